# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""compare_chats.py FOLDER PROGRAM: renders templates with Jinja, set up as chat templates are, and with PROGRAM CASES RESULTS."""

import json
import os
import subprocess
import sys

import chat_cases
import jinja2
import jinja2.ext
import jinja2.sandbox


class Refusal(Exception):
    """What a template raises."""


SYNTAX = object()  # what Jinja does not parse: nobody publishes it, so that what is made of it does not count


def make_environment():
    def refuse(message):
        raise Refusal(message)

    def to_json(value, ensure_ascii=False, indent=None):
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent)

    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols])
    environment.filters["tojson"] = to_json
    environment.globals["raise_exception"] = refuse
    return environment


def render(environment, template, conversation, prompt):
    try:
        parsed = environment.from_string(template)
    except jinja2.TemplateError:
        return SYNTAX
    variables = {**chat_cases.TOKENS, "tools": None, "documents": None, "add_generation_prompt": prompt, **conversation}
    try:
        return parsed.render(**variables)
    except (jinja2.TemplateError, Refusal, TypeError, ValueError, ZeroDivisionError, KeyError, AttributeError, OverflowError):
        return None


def main():
    folder, program = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    cases, given, results = chat_cases.make(), os.path.join(folder, "cases.json"), os.path.join(folder, "results.json")
    with open(given, "w", encoding="utf-8") as file:
        json.dump([{"template": template, "tokens": json.dumps(chat_cases.TOKENS), "conversation": json.dumps(conversation), "prompt": prompt}
                   for template, conversation, prompt in cases], file)
    subprocess.run([program, given, results], check=True)
    with open(results, encoding="utf-8") as file:
        got = json.load(file)
    environment = make_environment()
    wrong = refused = stricter = 0
    for (template, conversation, prompt), result in zip(cases, got, strict=True):
        want = render(environment, template, conversation, prompt)
        if want is SYNTAX:
            continue
        refused += want is None
        # A refusal with a message is no wrong answer, but there may not be many.
        stricter += want is not None and "error" in result
        if result.get("text", want) != want or (want is None and "text" in result):
            wrong += 1
            if wrong <= 12:
                print(f"{template!r}\n  of {conversation['messages']!r}\n  want {want!r}\n  got  {result}")
        elif want is not None and "error" in result and os.environ.get("SHOW"):
            print(f"stricter: {template!r}: {result['error']}: {want!r}")
    print(f"{len(cases)} templates, {refused} of them refused, {stricter} more than by Jinja, {wrong} wrong")
    sys.exit(wrong != 0 or stricter * 50 > len(cases))


if __name__ == "__main__":
    main()
