//===- Plugins.cpp - shared libraries with operators ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plugin/Plugins.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <mutex>
#include <string>
#include <unistd.h>
#include <vector>

// A statically linked program has no dynamic loader, so these are null there.
#pragma weak dlopen
#pragma weak dlsym
#pragma weak dlerror

namespace tenon::rt {

const tenon_plugin_operator &getOperator(const tenon_plugin &plugin, uint32_t index) {
  const char *first = reinterpret_cast<const char *>(plugin.operators);
  return *reinterpret_cast<const tenon_plugin_operator *>(first + index * plugin.operator_size);
}

namespace {
/// The opened plug-ins; those that a caller named come first.
struct Registry {
  std::mutex mutex;
  std::vector<const tenon_plugin *> added, found;
};
} // namespace

static Registry &registry() {
  static Registry all;
  return all;
}

static Status openPlugin(const std::string &path, const tenon_plugin **plugin) {
  if (!dlopen || !dlsym)
    return Status::make(TENON_UNSUPPORTED, "plug-in '%s': this program is linked statically and opens none",
                        path.c_str());
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = dlerror();
    return Status::make(TENON_UNSUPPORTED, "plug-in '%s' cannot be opened: %s", path.c_str(),
                        reason ? reason : "no reason given");
  }
  auto get = reinterpret_cast<tenon_plugin_get_fn>(dlsym(library, TENON_PLUGIN_ENTRY));
  if (!get)
    return Status::make(TENON_UNSUPPORTED, "'%s' is no plug-in: it does not export %s", path.c_str(),
                        TENON_PLUGIN_ENTRY);
  const tenon_plugin *table = get(TENON_PLUGIN_VERSION);
  if (!table || table->version != TENON_PLUGIN_VERSION)
    return Status::make(TENON_UNSUPPORTED,
                        "plug-in '%s' is for another version of the interface than %u; build it again", path.c_str(),
                        TENON_PLUGIN_VERSION);
  bool isSound = table->name && *table->name && table->operator_size >= sizeof(tenon_plugin_operator) &&
                 (table->operators || !table->operator_count);
  for (uint32_t i = 0; isSound && i < table->operator_count; ++i) {
    const tenon_plugin_operator &op = getOperator(*table, i);
    isSound = op.domain && op.name && op.infer && op.run;
  }
  if (!isSound)
    return Status::make(TENON_UNSUPPORTED, "plug-in '%s' has a table that lacks a name or a function", path.c_str());
  *plugin = table;
  return {};
}

Status addPlugin(const char *path) {
  const tenon_plugin *plugin;
  // Without a slash, dlopen would search the system's folders.
  TENON_TRY(openPlugin(strchr(path, '/') ? path : std::string("./") + path, &plugin));
  Registry &all = registry();
  std::lock_guard<std::mutex> lock(all.mutex);
  // The last plug-in of a name is used; the same file may be added for each model.
  all.added.insert(all.added.begin(), plugin);
  for (size_t i = 1; i < all.added.size(); ++i)
    if (all.added[i] == plugin)
      all.added.erase(all.added.begin() + long(i));
  return {};
}

/// The folder of the program that runs, or "".
static std::string programFolder() {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0 || size_t(length) == sizeof path)
    return "";
  std::string folder(path, size_t(length));
  return folder.substr(0, folder.rfind('/'));
}

static std::vector<std::string> listFolders() {
  std::vector<std::string> folders;
  if (const char *list = secure_getenv("TENON_PLUGIN_PATH"))
    for (const char *begin = list; *begin;) {
      const char *end = strchrnul(begin, ':');
      if (end != begin)
        folders.emplace_back(begin, end);
      begin = *end ? end + 1 : end;
    }
  if (std::string own = programFolder(); !own.empty())
    folders.push_back(own + "/../lib/tenon");
  return folders;
}

Status findPlugin(const char *name, const tenon_plugin **plugin) {
  Registry &all = registry();
  std::lock_guard<std::mutex> lock(all.mutex);
  for (const auto *known : {&all.added, &all.found})
    for (const tenon_plugin *each : *known)
      if (strcmp(each->name, name) == 0) {
        *plugin = each;
        return {};
      }
  std::string file = std::string("libtenon-plugin-") + name + ".so", searched;
  for (const std::string &folder : listFolders()) {
    std::string path = folder;
    path.append("/").append(file);
    if (access(path.c_str(), F_OK) == 0) {
      TENON_TRY(openPlugin(path, plugin));
      if (strcmp((*plugin)->name, name) != 0)
        return Status::make(TENON_UNSUPPORTED, "plug-in '%s' calls itself '%s'", path.c_str(), (*plugin)->name);
      all.found.push_back(*plugin);
      return {};
    }
    searched += (searched.empty() ? "" : ", ") + folder;
  }
  return Status::make(TENON_UNSUPPORTED,
                      "needs plug-in '%s', and there is no %s in %s; name its file (--plugin) or set TENON_PLUGIN_PATH",
                      name, file.c_str(), searched.empty() ? "any folder" : searched.c_str());
}

static const tenon_plugin_operator *findOperator(const tenon_plugin &plugin, const char *domain, const char *name) {
  for (uint32_t i = 0; i < plugin.operator_count; ++i) {
    const tenon_plugin_operator &op = getOperator(plugin, i);
    if (strcmp(op.domain, domain) == 0 && strcmp(op.name, name) == 0)
      return &op;
  }
  return nullptr;
}

Status findPluginOperator(const char *plugin, const char *domain, const char *name,
                          const tenon_plugin_operator **found) {
  const tenon_plugin *table;
  TENON_TRY(findPlugin(plugin, &table));
  *found = findOperator(*table, domain, name);
  if (*found)
    return {};
  return Status::make(TENON_UNSUPPORTED, "needs operator '%s%s%s', which plug-in '%s' does not have", domain,
                      *domain ? "::" : "", name, plugin);
}

const tenon_plugin *findPluginWith(const char *domain, const char *name) {
  Registry &all = registry();
  std::lock_guard<std::mutex> lock(all.mutex);
  for (const tenon_plugin *plugin : all.added)
    if (findOperator(*plugin, domain, name))
      return plugin;
  return nullptr;
}

Status callOperator(tenon_plugin_fn function, tenon_plugin_call *call, const char *what, const char *plugin) {
  char message[512] = "";
  call->size = sizeof *call;
  call->message = message;
  call->message_size = sizeof message;
  tenon_status status = function(call);
  if (status == TENON_OK)
    return {};
  message[sizeof message - 1] = 0;
  bool isKnown = status == TENON_INVALID || status == TENON_UNSUPPORTED || status == TENON_RESOURCES;
  return Status::make(isKnown ? status : TENON_FAULT, "%s: plug-in '%s' %s%s", what, plugin,
                      isKnown && *message ? "says: " : "failed without a reason", isKnown ? message : "");
}

} // namespace tenon::rt
