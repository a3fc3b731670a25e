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

/// Opens a file that a caller names. It is registered in the process: no other plug-in of this name is searched
/// afterwards.
Status addPlugin(const char *path);

/// Finds the table of a plug-in; TENON_UNSUPPORTED if there is none. A plug-in NAME is a file that was added, or
/// libtenon-plugin-NAME.so in a folder of TENON_PLUGIN_PATH (separated by colons), or in ../lib/tenon relative to the
/// running program. Libraries stay open until the process ends.
Status findPlugin(const char *name, const tenon_plugin **plugin);

/// Finds an operator of a plug-in; TENON_UNSUPPORTED if it has none of that name.
Status findPluginOperator(const char *plugin, const char *domain, const char *name,
                          const tenon_plugin_operator **found);

/// Returns the added plug-in that has an operator; null if there is none.
const tenon_plugin *findPluginWith(const char *domain, const char *name);

/// Returns operator number `index` of a plug-in, whose structure may be larger than ours.
const tenon_plugin_operator &getOperator(const tenon_plugin &plugin, uint32_t index);

/// Calls the shape function or the computation, and converts a failure to a status prefixed by `what`, such as "node
/// 'x'". The message is truncated to one line.
Status callOperator(tenon_plugin_fn function, tenon_plugin_call *call, const char *what, const char *plugin);

} // namespace tenon::rt

#endif // TENON_RUNTIME_PLUGIN_PLUGINS_H
