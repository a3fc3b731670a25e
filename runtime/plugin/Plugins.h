//===- Plugins.h - shared libraries with operators --------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PLUGIN_PLUGINS_H
#define TENON_RUNTIME_PLUGIN_PLUGINS_H

#include "runtime/base/Status.h"
#include "tenon/plugin.h"

namespace tenon::rt {

/// Opens a file that a caller names. It stays known to the process: a plug-in of its name is not looked for any more.
Status addPlugin(const char *path);

/// The table of a plug-in; TENON_UNSUPPORTED where there is none. A plug-in NAME is a file that was added, or
/// libtenon-plugin-NAME.so in a folder of TENON_PLUGIN_PATH (separated by colons), or in ../lib/tenon beside the
/// program that runs. Libraries stay open until the process ends.
Status findPlugin(const char *name, const tenon_plugin **plugin);

/// The operator of a plug-in; TENON_UNSUPPORTED where it has none of that name.
Status findPluginOperator(const char *plugin, const char *domain, const char *name,
                          const tenon_plugin_operator **found);

/// The added plug-in that has an operator; null where none does.
const tenon_plugin *findPluginWith(const char *domain, const char *name);

/// The operator number `index` of a plug-in, whose struct may be longer than ours.
const tenon_plugin_operator &getOperator(const tenon_plugin &plugin, uint32_t index);

/// Calls the shape function or the computation, and turns a failure into a status with `what` in front: "node 'x'". The
/// message is one line whatever the plug-in wrote.
Status callOperator(tenon_plugin_fn function, tenon_plugin_call *call, const char *what, const char *plugin);

} // namespace tenon::rt

#endif // TENON_RUNTIME_PLUGIN_PLUGINS_H
