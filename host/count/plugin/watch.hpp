// What the plugin does instead of counting where CLLAB_WATCH_FILE is set: it writes which bytes of its arguments a
// launch touches. Read by app/choose/watched_launch.cpp; each launch replaces the file.
//   CLLAB_WATCH_FILE          where to
//   CLLAB_WATCH_INSTRUCTIONS  after so many the launch ends
#pragma once

#include <oclgrind/Plugin.h>

#include <memory>
#include <string>

namespace cllab::count {

std::unique_ptr<oclgrind::Plugin> make_watcher(const oclgrind::Context* context, const std::string& file);

}  // namespace cllab::count
