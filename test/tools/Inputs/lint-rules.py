# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Tries the rules of tools/lint on small trees: lint-rules.py SOURCE"""

import json
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

source = pathlib.Path(sys.argv[1])
sys.dont_write_bytecode = True
sys.path.insert(0, str(source / "tools"))

from linter.main import RULES  # noqa: E402
from linter.size import find_functions  # noqa: E402

LICENSE = "Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.\n{0} SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n{0}\n"
CPP = "// " + LICENSE.format("//")
HASH = "# " + LICENSE.format("#")
LINES = "  f();\n"


def header(guard, body=""):
    return f"{CPP}#ifndef {guard}\n#define {guard}\n\n{body}\n#endif // {guard}\n"


GOOD = {
    ".clang-format": "BasedOnStyle: LLVM\nColumnLimit: 120\n",
    "CMakeLists.txt": "add_subdirectory(base)\nadd_subdirectory(top)\n",
    "base/CMakeLists.txt": "set(parts one two)\nadd_library(base A.cpp)\nforeach(part ${parts})\n  add_library(${part} ${part}.cpp)\nendforeach()\n",
    "base/A.h": header("TENON_BASE_A_H", "void f();\n"),
    "base/A.cpp": CPP + '#include "base/A.h"\n#include <vector>\n\nvoid f() {}\n',
    "base/README.md": "# base\n",
    "base/one.cpp": CPP + "int one;\n",
    "base/two.cpp": CPP + "int two;\n",
    "top/CMakeLists.txt": "add_library(top B.cpp)\ntarget_link_libraries(top PRIVATE base)\n",
    "top/B.cpp": CPP + '#include "base/A.h"\n\nvoid g() {\n' + LINES * 98 + "}\n",
    "cmake/dependencies.txt": "library json: nlohmann/\nbase:\ntop: base\n",
    "tools/linter/vocabulary.txt": "# retired -> in use\noldWord -> newWord\n",
    "tools/README.md": "# tools\n",
    "top/README.md": "# top\n",
    "tools/run": "#!/usr/bin/env bash\n" + HASH + 'echo "$1"\n',
    "tools/run.py": HASH + "import sys\n\nprint(sys.argv)\n",
    "model.npy": "data of any kind  \n",
}

# Rule, changed files (None: removed), the findings that these make, in order.
BAD = [
    ("license", {"base/one.cpp": "int one;\n"}, ["base/one.cpp:1: no license in the first lines"]),
    ("license", {"tools/run": "#!/usr/bin/env bash\necho\n"}, ["tools/run:1: no license"]),
    ("readme", {"base/README.md": None}, ["base/A.cpp:1: base has no README.md"]),
    ("readme", {"test/inner/a.py": HASH, "base/inner/a.py": HASH}, ["base/inner/a.py:1: base/inner has no README.md"]),
    ("guards", {"base/A.h": header("A_H", "void f();\n")}, ["base/A.h:4: include guard A_H: should be TENON_BASE_A_H"]),
    ("guards", {"base/A.h": CPP + "void f();\n"}, ["base/A.h:1: no include guard"]),
    ("format", {"base/one.cpp": CPP + "int  one;\n"}, ["base/one.cpp:4: is not formatted"]),
    ("whitespace", {"base/one.cpp": CPP + "int one; \n"}, ["base/one.cpp:4: trailing white space"]),
    ("whitespace", {"base/one.cpp": CPP + "int one;"}, ["base/one.cpp:4: no newline at the end"]),
    ("whitespace", {"base/one.cpp": CPP + "int one;\n\n"}, ["base/one.cpp:5: empty lines at the end"]),
    ("whitespace", {"base/one.cpp": CPP + "int\tone;\n"}, ["base/one.cpp:4: tab"]),
    ("size", {"base/one.cpp": CPP + "int one;\n" * 1000}, ["base/one.cpp:1: 1003 lines"]),
    ("size", {"base/one.cpp": CPP + "void g() {\n" + LINES * 99 + "}\n"}, ["base/one.cpp:4: a function of 101 lines"]),
    ("size", {"base/one.cpp": CPP + "struct S {\n  void g() {\n" + LINES * 99 + "  }\n};\n"}, ["base/one.cpp:5: a function of 101 lines"]),
    ("size", {"tools/run.py": HASH + "def f():\n" + "    print()\n" * 100}, ["tools/run.py:4: a function of 101 lines"]),
    ("cmake", {"top/CMakeLists.txt": "add_library(top\n  B.cpp\n  B.cpp)\n"}, ["top/CMakeLists.txt:3: B.cpp is listed twice"]),
    ("cmake", {"top/C.cpp": CPP}, ["top/C.cpp:1: no CMakeLists.txt lists this file"]),
    ("cmake", {"top/CMakeLists.txt": "add_library(top B.cpp\n  C.cpp)\n"}, ["top/CMakeLists.txt:2: C.cpp is listed and does not exist"]),
    ("cmake", {"base/two.cpp": None}, ["base/CMakeLists.txt:4: two.cpp is listed and does not exist"]),
    ("cmake", {"CMakeLists.txt": "add_subdirectory(base)\n"}, ["top/CMakeLists.txt:1: no add_subdirectory leads to top"]),
    ("includes", {"base/one.cpp": CPP + '#include "top/B.cpp"\n'}, ["base/one.cpp:4: base may not include top"]),
    ("includes", {"base/one.cpp": CPP + '#include "top/C.h"\n'}, ["base/one.cpp:4: top/C.h does not exist"]),
    ("includes", {"base/one.cpp": CPP + "#include <nlohmann/json.hpp>\n"}, ["base/one.cpp:4: base may not include json"]),
    ("includes", {"base/one.cpp": CPP + "#include <boost/any.hpp>\n"}, ["base/one.cpp:4: boost/any.hpp is of no library"]),
    ("includes", {"new/N.h": header("TENON_NEW_N_H", '#include "base/A.h"\n')}, ["new/N.h:7: is in no folder"]),
    (
        "includes",
        {"cmake/dependencies.txt": "library json: nlohmann/\nbase: top\ntop: base\n"},
        ["cmake/dependencies.txt:2: base does not include top", "cmake/dependencies.txt:2: base may not include top, which is declared below"],
    ),
    ("includes", {"top/B.cpp": CPP + "void g() {}\n"}, ["cmake/dependencies.txt:3: top does not include base: remove it"]),
    ("includes", {"cmake/dependencies.txt": "base:\ntop: base\nnone:\n"}, ["cmake/dependencies.txt:3: none does not exist"]),
    ("includes", {"cmake/dependencies.txt": "base:\ntop: base\nno colon\n"}, ["cmake/dependencies.txt:3: cannot read 'no colon'"]),
    (
        "includes",
        {
            "cmake/dependencies.txt": "base:\ntop:\nexcept top -> base 1: is about to go\n",
            "top/B.cpp": CPP + '#include "base/A.h"\n#include "base/A.h"\n',
        },
        ["top/B.cpp:4: top may not include base more than 1 times", "top/B.cpp:5: top may not include base more than 1 times"],
    ),
    (
        "includes",
        {"cmake/dependencies.txt": "base:\ntop:\nexcept top -> base 2: was more\n"},
        ["cmake/dependencies.txt:3: top includes base 1 times, not 2: lower the exception"],
    ),
    (
        "links",
        {"base/CMakeLists.txt": GOOD["base/CMakeLists.txt"] + "target_link_libraries(base\n  PRIVATE top)\n"},
        ["base/CMakeLists.txt:7: base may not link top of top"],
    ),
    ("links", {"base/CMakeLists.txt": "tenon_add_library(base A.cpp LINK top)\n"}, ["base/CMakeLists.txt:1: base may not link top"]),
    (
        "links",
        {"top/CMakeLists.txt": "add_library(top B.cpp)\ntarget_link_libraries(top PUBLIC base)\n"},
        ["top/CMakeLists.txt:2: top links base for all that link it"],
    ),
    # Found through a header of another folder; a source of the folder itself, and a target that links its library, may include it.
    (
        "links",
        {
            "base/CMakeLists.txt": GOOD["base/CMakeLists.txt"] + "tenon_tablegen(Gen A.td\n  Ops.h.inc -gen-op-decls)\n",
            "base/A.h": header("TENON_BASE_A_H", '#include "Ops.h.inc"\n'),
            "top/CMakeLists.txt": GOOD["top/CMakeLists.txt"] + "add_executable(\n  run B.cpp)\n",
        },
        ["top/CMakeLists.txt:4: run links no library of base, whose base/Ops.h.inc base/A.h includes"],
    ),
    (
        "constants",
        {
            "passes/shape/CMakeLists.txt": "",
            "passes/shape/S.cpp": CPP + "constexpr int kFew = 8;\nconstexpr int kMax = 9; // limit: hostile models\n",
            "passes/cost/P.h": header("TENON_PASSES_COST_P_H", "inline constexpr double kShare = 0.5;\n"),
        },
        ["passes/shape/S.cpp:4: kFew is a tuning constant"],
    ),
    (
        "refusals",
        {"passes/P.td": 'def A : Pass<"tenon-a"> {}\ndef B : Pass<"tenon-b"> {}\n', "test/passes/b.mlir": "// CHECK: b\n"},
        ["passes/P.td:1: tenon-a has no test of what it leaves alone", "passes/P.td:2: tenon-b has no test of what it leaves alone"],
    ),
    (
        "refusals",
        {
            "passes/P.td": 'def A : Pass<"tenon-a"> {}\ndef B : Pass<"tenon-b"> {}\n',
            "test/passes/a-errors.mlir": "// expected-error {{no a}}\n",
            "test/passes/b/tenon-b.mlir": "// CHECK-NOT: b\n",
            "dialects/CMakeLists.txt": "add_library(d D.cpp)\n",
            "dialects/D.cpp": CPP + 'bool f() { return emitOpError("has ") << n << " too many"; }\n'
            + 'bool g() { return emitError("names \\"") << n << "\\" twice or more"; }\n',
            "test/dialects/d.mlir": "// expected-error {{has 3 too many}}\n",
        },
        ['dialects/D.cpp:5: no test expects "" twice or more"'],
    ),
    (
        "constants",
        {
            "passes/kernel/contract/CMakeLists.txt": "",
            "passes/kernel/contract/K.cpp": CPP + "static constexpr int64_t kRows = 16; // format: of AMX\nstatic constexpr int64_t kAhead = 4096, kLine = 64;\n",
        },
        ["passes/kernel/contract/K.cpp:5: kAhead is a tuning constant"],
    ),
    (
        "errors",
        {
            "compiler/new/CMakeLists.txt": "add_library(new N.cpp)\n",
            "compiler/new/N.cpp": CPP + "bool f(int i, std::string &error);\nbool g(std::string *reason = nullptr);\n"
            + "void h(const std::string &error) { std::string &fault = faults[error]; }\nbool i(std::string &text);\n",
            "runtime/CMakeLists.txt": "add_library(r R.cpp)\n",
            "runtime/R.cpp": CPP + "bool f(std::string &error);\n",
        },
        ["compiler/new/N.cpp:4: a parameter 'error' receives", "compiler/new/N.cpp:5: a parameter 'reason' receives"],
    ),
    ("paths", {"base/one.cpp": CPP + "// see /" + "home/somebody/notes\n"}, ["base/one.cpp:4: absolute path '/home/...'"]),
    ("vocabulary", {"base/one.cpp": CPP + "int oldWord;\n"}, ["base/one.cpp:4: 'oldWord' is retired: write 'newWord'"]),
    ("shell", {"tools/run": "#!/usr/bin/env bash\n" + HASH + 'cd "$1"\n'}, ["tools/run:5: Use 'cd ... || exit'"]),
    ("python", {"tools/run.py": HASH + "import sys\n"}, ["tools/run.py:4: 'sys' imported but unused"]),
    ("python", {"tools/run.py": HASH + "def f(:\n"}, ["tools/run.py:4: invalid syntax"]),
]

failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def write(root, files):
    for path, text in files.items():
        if text is None:
            (root / path).unlink()
        else:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)


def lint(root, *arguments):
    return subprocess.run([str(source / "tools/lint"), "--root", str(root), *arguments], capture_output=True, text=True)


def in_tree(change, body):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        subprocess.run(["git", "init", "-q", folder], check=True)
        write(root, GOOD | {path: text for path, text in change.items() if text is not None})
        for path in [path for path, text in change.items() if text is None]:
            (root / path).unlink()
        body(root)


def check_good(root):
    report = root.with_suffix(".xml")
    done = lint(root, "--junit", str(report))
    expect(done.returncode == 0 and not done.stdout, f"a good tree: {done.returncode}\n{done.stdout}{done.stderr}")
    names = [case.get("name") for case in ElementTree.parse(report).iter("testcase")]
    report.unlink()
    expect(names == list(RULES), f"the JUnit file has the cases {names}")
    expect(lint(root, "none.cpp").returncode == 2, "a file that does not exist is wrong usage")
    (root / "top/B.cpp").write_text("int b; \n")
    expect(lint(root, str(root / "base")).returncode == 0, "a file outside the folder that is checked is of no concern")
    expect(lint(root, str(root / "top")).stdout.count("top/B.cpp:1:") >= 2, "a folder stands for its files")


def check_bad(rule, wanted):
    def body(root):
        done = lint(root, "--rule", rule)
        *lines, last = done.stdout.rstrip("\n").split("\n")
        fits = len(lines) == len(wanted) and all(line.startswith(start) for line, start in zip(lines, sorted(wanted)))
        expect(done.returncode == 1 and fits, f"{rule}: wanted {wanted}, found\n{done.stdout}{done.stderr}")
        # The same through the whole program, with the file named.
        path = lines[0].split(":")[0] if lines else ""
        expect(wanted[0] in lint(root, path).stdout, f"{rule}: no such finding where {path} alone is checked")
        if "--fix mends" in last and "by hand" not in last:
            expect(lint(root, "--rule", rule, "--fix").returncode == 0, f"{rule}: --fix does not mend {wanted}")
            expect(lint(root, "--rule", rule).returncode == 0, f"{rule}: a finding is left after --fix: {wanted}")

    return body


def check_tidy(root):
    """clang-tidy finds a badly named function where its file is named or changed, and nothing elsewhere."""
    (root / ".clang-tidy").write_text(
        "Checks: '-*,readability-identifier-naming'\nCheckOptions:\n  readability-identifier-naming.FunctionCase: camelBack\n"
    )
    (root / "base/two.cpp").write_text(CPP + "int BadName() { return 2; }\n")
    commands = [{"directory": str(root), "file": path, "command": f"c++ -c {path}"} for path in ("base/one.cpp", "base/two.cpp")]
    commands = [entry | {"file": str(root / entry["file"])} for entry in commands]
    (root / "build").mkdir()
    (root / "build/compile_commands.json").write_text(json.dumps(commands))
    done = lint(root, "--tidy", "all")
    expect(done.returncode == 1 and "base/two.cpp:4: invalid case style for function 'BadName'" in done.stdout, f"tidy: {done}")
    done = lint(root, "--tidy", "all", str(root / "base/one.cpp"))
    expect(done.returncode == 0 and "0 findings in 1 sources" in done.stdout, f"tidy of one good file: {done}")
    expect(lint(root, "--tidy").returncode == 2, "without a commit there is nothing to compare with")
    commit = ["git", "-C", str(root), "-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-q"]
    subprocess.run(["git", "-C", str(root), "add", "-A"], check=True)
    subprocess.run([*commit, "-m", "all"], check=True)
    done = lint(root, "--tidy", "--base", "HEAD")
    expect(done.returncode == 0 and "0 findings in 0 sources" in done.stdout, f"tidy where nothing was changed: {done}")
    (root / "base/two.cpp").write_text(CPP + "int WorseName() { return 2; }\n")
    done = lint(root, "--tidy", "--base", "HEAD")
    expect(done.returncode == 1 and "'WorseName'" in done.stdout and "1 sources" in done.stdout, f"tidy of what was changed: {done}")


def check_functions():
    text = """
namespace a {
struct S : public B<int> {
  explicit S(int x) : x(x), y{"}"} {
  }
  int h() const override { return '{'; } // }
};
template <typename T> struct Less {
  bool operator()(const T &a, const T &b) const {
    auto inner = [&](int i) {
      return i;
    };
    return a < b;
  }
};
#define OPEN {
static int table[] = {1, 2,
                      3};
struct tenon_x f(int a,
                 int b) {
  if (a) {
  }
  return g(R"(})");
}
} // namespace a
"""
    found = list(find_functions(text))
    expect(found == [(4, 2), (6, 1), (9, 6), (19, 6)], f"functions: {found}")


in_tree({}, check_good)
for rule, change, wanted in BAD:
    in_tree(change, check_bad(rule, wanted))
in_tree({}, check_tidy)
check_functions()
untried = set(RULES) - {rule for rule, _, _ in BAD}
expect(not untried, f"no bad file for the rules {untried}")
print("\n".join(failures))
sys.exit(1 if failures else 0)
