"""What the kernel lanes run: small and awkward sizes for every kernel, by the first pattern that fits its id.

`tiny` is what Oclgrind simulates in seconds; other implementations run it too. PoCL runs `small`, and `tiny` for the patterns of SHAPES; a GPU runs
both. Each entry is the axis settings of one run.
"""
PITCH = ["pitch=5.2", "width=96", "height=3", "weights=linear,published"]
# Of the product of pitch's axes, which the lane `product` has, PoCL and Oclgrind have each width and each edge with one of the weights.
PITCH_EDGES = [["pitch=5.2", "width=96", "height=3", "left=13", "right=13,19,20,21,27,28,29"],
               ["pitch=5.2", "width=96", "height=3", "weights=published", "left=6", "right=89"],
               ["pitch=5.2", "width=96", "height=3", "weights=published", "left=7", "right=88"],
               ["pitch=5.2", "width=13,37", "height=1"]]

SIZES = {
    "access_*": {"tiny": [["size=4096", "offset=0,4", "stride=1,3", "load=100"]], "small": [["size=65536", "stride=16", "offset=64", "load=50,400"]]},
    "address_*": {"tiny": [["width=16", "height=4", "items=16"]], "small": [["width=65", "height=7", "items=100", "pixels=1,3", "index=uint,long"]]},
    "atomic_*": {"tiny": [["counters=1,4"]], "small": [["counters=4096"]]},
    "bandwidth_reread": {"tiny": [["size=16384"]], "small": [["size=65536"]]},
    "bandwidth_*": {"tiny": [["size=16,1040"], ["size=1040", "offset=3", "stride=3"]], "small": [["size=65536", "offset=0,4", "stride=1,7"]]},
    "banks_*": {"tiny": [["stride=0,1,33"]], "small": [["stride=2,32"]]},
    "barrier_*": {"tiny": [["group=32"]], "small": [["group=64,256"]]},
    "batchnorm_*": {"tiny": [["images=2", "channels=3", "height=2", "width=3"]],
                    "small": [["images=3", "channels=5", "height=7", "width=8,9"]]},
    "cacheline_*": {"tiny": [["distance=8,24", "footprint=4096"]], "small": [["distance=136", "footprint=65536"]]},
    "channels_*": {"tiny": [["spacing=64,320", "lines=16"]], "small": [["spacing=4160", "lines=256"]]},
    "convert_*": {"tiny": [[]], "small": []},
    "dequant_row": {"tiny": [["m=1,7", "k=32,96"]], "small": [["m=100", "k=4096"]]},
    "dequant_dot": {"tiny": [["m=1,7", "k=32,96", "local=8", "lanes=1,8"], ["m=6", "k=96", "local=8", "lanes=4", "rows=2,3"]],
                    "small": [["m=100", "k=4096", "local=32", "lanes=32", "rows=1,4"]]},
    "dequant_*": {"tiny": [["m=1,7", "k=32,96", "local=8", "lanes=1,8"]], "small": [["m=100", "k=4096", "local=32", "lanes=32"]]},
    "dispatch_*": {"tiny": [["side=1,8", "shape=4x2"]], "small": [["side=15", "shape=8x4x2"]]},
    "divergence_*": {"tiny": [["items=64"]], "small": [["items=512"]]},
    # Of 8192 steps of whole numbers in a row, as in fma_code, PoCL's LLVM crashes: these are of Intel's and Oclgrind's lanes.
    "fma_*": {"tiny": [["type=float", "ahead=0,15"]], "small": []},
    # Streams: one tile, of which several groups have a part wherever there are two units, and some of which groups have the whole.
    "gemm_pipelined": {"tiny": [["m=5", "n=18", "k=7"], ["m=9", "n=20", "k=12"], ["m=9", "n=20", "k=68,70", "schedule=stream", "tile=64x64"],
                                # A group with two pieces: what one still reads the next may not write, which only Oclgrind's watch for races sees.
                                ["m=9", "n=520", "k=12", "schedule=stream", "tile=128x128"]],
                       "small": [["m=130", "n=261", "k=37", "pack=0,1"], ["m=130", "n=261", "k=70", "tile=64x64", "slices=4"],
                                 ["m=300", "n=268", "k=44", "tile=256x128"], ["m=256", "n=256", "k=64", "tile=128x64"],
                                 ["m=1,40,129", "schedule=stream"], ["m=257", "n=130", "k=9", "schedule=stream"], ["m=130", "n=261", "k=999", "pack=0,1", "schedule=stream"],
                                 ["m=600", "n=100", "k=444", "schedule=stream", "tile=256x128"], ["m=384", "n=256", "k=512", "schedule=stream"]]},
    # Sizes that no tile divides, with rows that 128-bit words divide and that they do not.
    "gemm_[nl]*": {"tiny": [["m=5", "n=18", "k=7"], ["m=9", "n=20", "k=12"]], "small": [["m=64", "n=32", "k=48", "pad=0,3"], ["m=130", "n=261", "k=17"]]},
    "gemm_*": {"tiny": [["m=5", "n=18", "k=7"], ["m=9", "n=20", "k=12"]],
               "small": [["m=130", "n=260,261", "k=20,17"], ["m=128", "n=256", "k=32", "tile_k=8,16"]]},
    "hgemm_[nl]*": {"tiny": [["m=5", "n=18", "k=7", "type=f16,bf16,s8"]], "small": [["m=130", "n=61", "k=37"]]},
    # One tile, several stages, and more tiles than an H200 has units.
    "hgemm_wgmma": {"tiny": [], "small": [["m=128,384", "n=256", "k=128,1408", "type=bf16,f16,s8"], ["m=256", "n=512", "k=640", "stages=2,3"],
                                          ["m=2048", "n=3072", "k=384", "type=f16,s8"]]},
    "hgemm_*": {"tiny": [], "small": [["m=256", "n=512", "k=96", "type=f16,bf16"], ["m=256", "n=256", "k=32", "block=128x256x16"], ["m=256", "n=512", "k=640", "type=s8"],
                                      ["m=256", "n=256", "k=64", "type=s8", "block=128x256x16,256x128x32"]]},
    "himeno_swap": {"tiny": [], "small": [["size=XXS"], ["size=XXS", "start=0,3", "order=kij,jki,ijk", "local=4x2x3"]]},
    "himeno_local": {"tiny": [], "small": [["size=XXS"], ["size=XXS", "local=16x4x4,32x1x2", "planes=3"]]},
    "himeno_schedule": {"tiny": [], "small": [["size=XXS", "planes=1,4"]]},
    "himeno_*": {"tiny": [], "small": [["size=XXS", "sweeps=1"]]},
    "latency_*": {"tiny": [["footprint=2048", "line=64"]], "small": [["footprint=65536", "line=auto"]]},
    "integer_[dp][oa]*": {"tiny": [[]], "small": []},  # dot and pair, which have one width
    "integer_*": {"tiny": [["bits=32,64"]], "small": []},
    "issue_*": {"tiny": [["chains=1,8"]], "small": []},
    "launch_spread": {"tiny": [["groups=2"]], "small": []},
    "launch_*": {"tiny": [["launches=2"]], "small": []},
    "math_*_fp16": {"tiny": [["function=exp2"]], "small": [["function=identity,tanh"]]},
    "math_latency*": {"tiny": [["function=sqrt"]], "small": [["function=exp,exp_by_exp2,sqrt_by_rsqrt,asin_by_atan2,fmax,fmin"]]},
    "math_*": {"tiny": [["function=sqrt"]], "small": [["function=exp"]]},
    "matrix_*": {"tiny": [["tiles=1,2"]], "small": [["tiles=8"]]},
    "muladd_*": {"tiny": [["items=1,7,64", "offset=0,3", "local=8"]], "small": [["items=1000,4096"]]},
    "nchw_*": {"tiny": [["images=1", "channels=3", "height=5", "width=7"]],
               "small": [["images=2", "channels=4,5", "height=14", "width=14"]]},
    "occupancy_*": {"tiny": [["local=32", "ballast=1024", "live=0,16"]], "small": []},
    "pages_*": {"tiny": [["count=4,16", "page=256"]], "small": [["count=64", "pages=small,huge", "page=4096"]]},
    "pad_*": {"tiny": [["images=1", "channels=1,5", "k=1,4"]],
              "small": [["images=2", "channels=3", "k=3,16"], ["images=3", "channels=5", "side=1,6", "margin=0,2"], ["images=2", "channels=70", "side=3", "k=40"]]},
    "pitch_*": {
        "tiny": [
            # Widths of the region of interest 1, 7, 8, 9, 15, 16, 17 from an odd column, then against both edges.
            [*PITCH, "left=13", "right=13,19,20,21,27,28,29"],
            [*PITCH, "left=6,7", "right=89,88"],
            # The smallest image that has a region at all, and a width that no vector divides.
            ["pitch=5.2", "width=13,37", "height=1,2"],
        ],
        "small": [
            [*PITCH, "left=21", "right=22,38,53,70"],
            ["pitch=1,20.2", "width=64,97,130", "height=5"],
            # As many pixels as a vector of 64 bytes has, one less and one more, and as many as two have.
            ["pitch=5.2", "width=160", "height=3", "left=7", "right=69,70,71,134"],
            ["pitch=20.2", "width=300", "height=40", "local=64x4,16x16,1x1,8x2", "top=3", "bottom=30"],
            ["pitch=20.2", "width=300", "height=40", "items=1,3,7", "transfers=mapped"],
            ["pitch=20.2", "width=131", "height=7", "items=3", "layout=rows,columns", "element=ushort,int,uint,float"],
        ],
    },
    "ports_*": {"tiny": [["items=8"]], "small": []},
    "reduce_*": {"tiny": [["size=4,4100"]], "small": [["size=65596"], ["size=65536", "local=32", "loads=2"]]},
    "registers_*": {"tiny": [["items=32"]], "small": []},
    "scalar_*": {"tiny": [["items=1,100", "local=32"]], "small": [["items=5000"]]},
    "saxpy_*": {"tiny": [["size=4,60,16444"], ["size=252", "offset=3", "stride=2"]], "small": [["size=65536", "per_item=1,4"], ["size=65536", "offset=0,5", "stride=1,3", "groups=0,3"]]},
    "scatter_*": {"tiny": [["spread=1,64"]], "small": [["spread=8"]]},
    "subgroup_*": {"tiny": [[]], "small": []},
    "transfer_*": {"tiny": [["size=4100", "pieces=1,3", "memory=pageable,mapped"]],
                   "small": [["size=65540", "pieces=8", "memory=pageable,pinned,mapped,host_pointer", "queues=2,3"]]},
}

# Where the tiny sizes are other shapes than the small ones (the tails of vectors, offsets), PoCL runs them as well.
SHAPES = ["bandwidth_*", "muladd_*", "pad_*", "pitch_*", "reduce_*", "saxpy_*", "transfer_*"]

# Kernels whose uninitialised values Oclgrind 21.10 can follow, built as a user builds them: a report is a fault. Elsewhere
# it raises false alarms (what read_image returns, words that the kernel has stored itself) or stops at instructions of
# clang's optimiser (freeze, llvm.abs), so that the others are built without optimisation and watched for races and bounds.
WATCHED = ["muladd_*", "pitch_[!i]*", "pitch_implicit", "bandwidth_copy", "bandwidth_write", "bandwidth_triad", "banks_*",
           "barrier_*", "scatter_*"]

# Kernels for CPUs: the simulator and code for GPUs have none of them.
CPU_ONLY = ["divergence_straight", "divergence_looped", "gemm_vector", "issue_integer", "issue_vector", "issue_mixed", "launch_spread"]

# Sizes that replace both of the above in one lane.
INSTEAD = {
    # Made for GPUs, whose lanes have all of its sizes; PoCL compiles each tile and schedule for seconds, streams of the smallest tile (which Oclgrind
    # has) for longest.
    "pocl": {"gemm_pipelined": [["m=5", "n=18", "k=7"], ["m=130", "n=261", "k=37", "pack=0,1"], ["m=257", "n=130", "k=9", "schedule=stream"],
                                ["m=600", "n=100", "k=444", "schedule=stream", "tile=256x128"]],
             "pitch_*": [*PITCH_EDGES,
                         ["pitch=5.2", "width=96", "height=3", "weights=published", "left=21", "right=38,53"],
                         ["pitch=1", "width=64,97,130", "height=5"],
                         ["pitch=5.2", "width=160", "height=3", "left=7", "right=69,70,71,134"],
                         ["pitch=20.2", "width=300", "height=40", "local=64x4,16x16,1x1,8x2", "top=3", "bottom=30"],
                         ["pitch=20.2", "width=300", "height=40", "items=1,3,7", "transfers=mapped"],
                         # Every pair of element, layout and items.
                         ["pitch=20.2", "width=131", "height=7", "items=3", "layout=rows,columns", "element=ushort,int,uint,float"],
                         ["pitch=20.2", "width=131", "height=7", "items=1,7", "layout=columns", "element=ushort,int,uint,float"]]},
    # The longest straight lines, 8192 steps, are the pocl lane's: without optimisation PoCL compiles them for a minute, and code twice as long is
    # the same code twice.
    "opt-disable": {"fma_*": [["type=float", "ahead=0,15", "code=64,1024"]]},
    "tiny": {"fma_*": [["type=float", "ahead=0,15", "code=64,1024"]]},
    "oclgrind": {"pitch_*": PITCH_EDGES, "fma_*": [["type=float,ushort", "unroll=4", "code=64", "ahead=0,5"]], "himeno_*": [["size=XXS"]], "himeno_swap": [["size=XXS"]], "himeno_local": [["size=XXS", "local=8x4x2"]]},
    # llvmpipe compiles straight-line fma code for minutes, and each launch costs it milliseconds.
    "rusticl": {"divergence_*": [["items=8"]], "himeno_*": [["size=XXS", "sweeps=1"]],
                "himeno_swap": [["size=XXS", "start=3"]], "himeno_local": [["size=XXS"]], "himeno_schedule": [["size=XXS"]],
                "fma_*": [["type=float", "unroll=4", "code=16", "width=1", "ilp=1", "waves=1", "load=100", "ahead=3"]],
                "gemm_*": [["m=9", "n=20", "k=12"]], "ports_*": [["items=8", "unroll=1"]],
                "pitch_*": [["pitch=5.2", "width=13,37", "height=1,2"],
                            ["pitch=20.2", "width=300", "height=4", "local=64x4,8x2", "top=3"]]},
    # Its compiler takes half a second a kernel.
    "intel": {"himeno_*": [["size=XXS", "sweeps=1"]], "himeno_swap": [["size=XXS", "start=3"]], "himeno_local": [["size=XXS"]],
              "himeno_schedule": [["size=XXS"]], "gemm_*": [["m=9", "n=20", "k=12"]],
              "fma_*": [["type=float,uint,ushort", "unroll=4", "code=64", "ahead=7"]],
              "pitch_*": [[*PITCH, "left=13", "right=19,28"], ["pitch=5.2", "width=13,37", "height=2"],
                          ["pitch=20.2", "width=300", "height=40", "local=64x4,8x2", "top=3", "bottom=30"]]},
}

# Variants left to the other lanes for their time alone: a sweep of the smallest Himeno grid takes Oclgrind 4 s, and llvmpipe
# compiles two of divergence for more than a minute and two for 10 to 20 s. Each family keeps some.
LEFT_OUT = {
    "oclgrind": ["himeno_transfers", "himeno_region", "himeno_whole", "himeno_data", "himeno_resident", "himeno_schedule",
                 "himeno_padded", "himeno_interleaved"],
    "rusticl": ["divergence_straight", "divergence_looped", "divergence_branch", "divergence_select"],
}
