// host/README.md, rule 14: samples taken while the device's clock was not what it is for the rest of them do not
// count. A fixed reference kernel, timed between the samples, tells; this is the arithmetic, free of OpenCL so that it
// is tested alone.
#pragma once

#include <cstddef>
#include <vector>

namespace cllab::run {

/// The samples of one cell in blocks between references. A block beside a reference more than 10 % off the median of
/// all references so far is set aside. When that would cost more than three times the samples that remain, the drift is
/// what the device does all the time: every sample counts again and throttled() says so.
class DriftFilter {
public:
    /// `wanted`: samples a cell needs at least; as many count as remaining when there are fewer yet.
    explicit DriftFilter(unsigned wanted) : wanted_(wanted) {}

    /// Seconds of the reference kernel, > 0: ends the block before it and begins the next.
    void reference(double seconds);
    /// Seconds of one sample, and the round it was taken in.
    void sample(double seconds, unsigned round);
    /// Counts every sample from now on if any was set aside: there is no time to take others.
    void give_up();
    /// After the last reference: as give_up() when less than a quarter of the samples is left.
    void conclude();

    const std::vector<double>& kept() const { return kept_; }                  ///< in the order taken
    const std::vector<double>& aside() const { return aside_; }                ///< likewise
    const std::vector<unsigned>& kept_rounds() const { return kept_rounds_; }  ///< of each of kept()
    const std::vector<unsigned>& aside_rounds() const { return aside_rounds_; }
    bool throttled() const { return throttled_; }
    std::size_t references() const { return references_.size(); }
    /// Slowest less fastest reference beside samples that count, over the median; 0 without references.
    double spread() const;

private:
    struct Sample {
        double seconds;
        unsigned round;
        std::size_t block;  ///< references taken before it
    };
    bool steady(std::size_t block) const;
    bool is_off(double reference) const;
    void put(const Sample& sample, bool fine);
    void sort_out();

    unsigned wanted_;
    std::vector<double> references_;
    double median_ = 0;  ///< of them
    std::vector<Sample> all_;
    std::vector<double> kept_, aside_;
    std::vector<unsigned> kept_rounds_, aside_rounds_;
    bool throttled_ = false;
};

}  // namespace cllab::run
