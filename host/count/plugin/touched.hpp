// What the plugin does instead of counting where CLLAB_TOUCHED_FILE is set: it writes which bytes of its arguments a
// launch touches. Read by app/choose/guessing.cpp; each launch replaces the file.
//   CLLAB_TOUCHED_FILE          where to
//   CLLAB_TOUCHED_INSTRUCTIONS  after so many the launch ends
#pragma once

#include <oclgrind/Plugin.h>

#include <memory>
#include <string>

namespace cllab::count {

std::unique_ptr<oclgrind::Plugin> make_touch_recorder(const oclgrind::Context* context, const std::string& file);

}  // namespace cllab::count
