# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Templates and conversations: those of the formats of real models, written anew, and one line for each thing that is known."""

import random

TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}

LLAMA3 = """{%- set date = date_string if date_string is defined else "26 Jul 2024" %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system = messages[0]['content']|trim %}
    {%- set rest = messages[1:] %}
{%- else %}
    {%- set system = "" %}
    {%- set rest = messages %}
{%- endif %}
{{- bos_token }}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{%- if tools is not none %}
    {{- "Environment: ipython\\n" }}
    {%- for tool in tools %}
        {{- tool | tojson(indent=4) }}
        {{- "\\n\\n" }}
    {%- endfor %}
{%- endif %}
{{- "Today: " + date + "\\n\\n" + system + "<|eot_id|>" }}
{%- for message in rest %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' + message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}
            {{- raise_exception("One call at a time!") }}
        {%- endif %}
        {%- set call = message.tool_calls[0].function %}
        {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' -}}
        {{- '{"name": "' + call.name + '", "parameters": ' }}
        {{- call.arguments | tojson }}
        {{- "}<|eot_id|>" }}
    {%- else %}
        {{- "<|start_header_id|>ipython<|end_header_id|>\\n\\n" }}
        {%- if message.content is mapping or message.content is iterable %}
            {{- message.content | tojson }}
        {%- else %}
            {{- message.content }}
        {%- endif %}
        {{- "<|eot_id|>" }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
"""

QWEN = """{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0].role == 'system' %}{{- messages[0].content }}{%- else %}{{- 'You help.' }}{%- endif %}
    {{- "\\n\\n# Tools\\n<tools>" }}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\\n</tools><|im_end|>\\n" }}
{%- endif %}
{%- set ns = namespace(multi_step=true, last=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step and message.role == "user" and not(message.content.startswith('<tool>') and message.content.endswith('</tool>')) %}
        {%- set ns.multi_step = false %}
        {%- set ns.last = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set content = message.content %}
        {%- set thought = '' %}
        {%- if '</think>' in content %}
            {%- set thought = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
        {%- endif %}
        {{- '<|im_start|>' + message.role }}
        {%- if loop.index0 > ns.last and (loop.last or thought) %}{{- '\\n<think>\\n' + thought.strip('\\n') + '\\n</think>\\n' }}{%- endif %}
        {%- if content %}{{- '\\n' + content }}{%- endif %}
        {%- for call in message.tool_calls %}
            {%- if call.function is defined %}{%- set call = call.function %}{%- endif %}
            {{- '\\n<tool_call>\\n{"name": "' }}{{- call.name }}{{- '", "arguments": ' }}
            {{- call.arguments | tojson }}
            {{- '}\\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == "tool" %}
        {%- if (loop.index0 == 0) or (messages[loop.index0 - 1].role != "tool") %}{{- '<|im_start|>user' }}{%- endif %}
        {{- '\\n<tool>\\n' }}{{- message.content }}{{- '\\n</tool>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}{{- '<|im_end|>\\n' }}{%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}
"""

GEMMA = """{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- if messages[0]['content'] is string -%}
        {%- set first_user_prefix = messages[0]['content'] + '\\n\\n' -%}
    {%- else -%}
        {%- set first_user_prefix = messages[0]['content'][0]['text'] + '\\n\\n' -%}
    {%- endif -%}
    {%- set loop_messages = messages[1:] -%}
{%- else -%}
    {%- set first_user_prefix = "" -%}
    {%- set loop_messages = messages -%}
{%- endif -%}
{%- for message in loop_messages -%}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}
        {{ raise_exception("Roles must alternate user/assistant/user/assistant/...") }}
    {%- endif -%}
    {%- if (message['role'] == 'assistant') -%}{%- set role = "model" -%}{%- else -%}{%- set role = message['role'] -%}{%- endif -%}
    {{ '<start_of_turn>' + role + '\\n' + (first_user_prefix if loop.first else "") }}
    {%- if message['content'] is string -%}
        {{ message['content'] | trim }}
    {%- elif message['content'] is iterable -%}
        {%- for item in message['content'] -%}
            {%- if item['type'] == 'image' -%}{{ '<start_of_image>' }}
            {%- elif item['type'] == 'text' -%}{{ item['text'] | trim }}
            {%- endif -%}
        {%- endfor -%}
    {%- else -%}
        {{ raise_exception("Invalid content type") }}
    {%- endif -%}
    {{ '<end_of_turn>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}{{'<start_of_turn>model\\n'}}{%- endif -%}
"""

MISTRAL = """{%- if messages[0]["role"] == "system" %}
    {%- set system_message = messages[0]["content"] %}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set loop_messages = messages %}
{%- endif %}
{%- if not tools is defined %}
    {%- set tools = none %}
{%- endif %}
{%- set user_messages = loop_messages | selectattr("role", "equalto", "user") | list %}
{#- Roles have to alternate, but for calls and their results. #}
{%- set ns = namespace() %}
{%- set ns.index = 0 %}
{%- for message in loop_messages %}
    {%- if not (message.role == "tool" or message.role == "tool_results" or (message.tool_calls is defined and message.tool_calls is not none)) %}
        {%- if (message["role"] == "user") != (ns.index % 2 == 0) %}
            {{- raise_exception("After the optional system message, roles must alternate") }}
        {%- endif %}
        {%- set ns.index = ns.index + 1 %}
    {%- endif %}
{%- endfor %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {%- if tools is not none and (message == user_messages[-1]) %}
            {{- "[AVAILABLE_TOOLS] [" }}
            {%- for tool in tools %}
                {%- set tool = tool.function %}
                {{- '{"type": "function", "function": {' }}
                {%- for key, val in tool.items() if key != "return" %}
                    {%- if val is string %}
                        {{- '"' + key + '": "' + val + '"' }}
                    {%- else %}
                        {{- '"' + key + '": ' + val|tojson }}
                    {%- endif %}
                    {%- if not loop.last %}{{- ", " }}{%- endif %}
                {%- endfor %}
                {{- "}}" }}
                {%- if not loop.last %}{{- ", " }}{%- else %}{{- "]" }}{%- endif %}
            {%- endfor %}
            {{- "[/AVAILABLE_TOOLS]" }}
        {%- endif %}
        {%- if loop.last and system_message is defined %}
            {{- "[INST] " + system_message + "\\n\\n" + message["content"] + "[/INST]" }}
        {%- else %}
            {{- "[INST] " + message["content"] + "[/INST]" }}
        {%- endif %}
    {%- elif message.tool_calls is defined and message.tool_calls is not none %}
        {{- "[TOOL_CALLS] [" }}
        {%- for tool_call in message.tool_calls %}
            {%- set out = tool_call.function|tojson %}
            {{- out[:-1] }}
            {%- if not tool_call.id is defined or tool_call.id|length != 9 %}
                {{- raise_exception("Tool call IDs should be alphanumeric strings with length 9!") }}
            {%- endif %}
            {{- ', "id": "' + tool_call.id + '"}' }}
            {%- if not loop.last %}{{- ", " }}{%- else %}{{- "]" + eos_token }}{%- endif %}
        {%- endfor %}
    {%- elif message["role"] == "assistant" %}
        {{- " " + message["content"]|trim + eos_token}}
    {%- elif message["role"] == "tool_results" or message["role"] == "tool" %}
        {%- if message.content is defined and message.content.content is defined %}
            {%- set content = message.content.content %}
        {%- else %}
            {%- set content = message.content %}
        {%- endif %}
        {{- '[TOOL_RESULTS] {"content": ' + content|string + ", " }}
        {{- '"call_id": "' + message.tool_call_id + '"}[/TOOL_RESULTS]' }}
    {%- else %}
        {{- raise_exception("Only user and assistant roles are supported!") }}
    {%- endif %}
{%- endfor %}
"""

PHI3 = """{% for message in messages %}{% if message['role'] == 'system' and message['content'] %}{{'<|system|>
' + message['content'] + '<|end|>
'}}{% elif message['role'] == 'user' %}{{'<|user|>
' + message['content'] + '<|end|>
'}}{% elif message['role'] == 'assistant' %}{{'<|assistant|>
' + message['content'] + '<|end|>
'}}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>
' }}{% else %}{{ eos_token }}{% endif %}
"""

MACROS = """{%- macro describe(spec, level=0) -%}
{%- if spec.type == "array" -%}{{ describe(spec["items"], level + 1) }}[]
{%- elif spec.type == "object" -%}
{ {%- for name, inner in spec.properties.items()|sort -%} {{ name }}: {{ describe(inner, level + 1) }}{{ ", " if not loop.last }} {%- endfor -%} }
{%- else -%}{{ spec.type|default("any") }}@{{ level }}{%- endif -%}
{%- endmacro -%}
{%- for tool in tools or [] %}
{{ tool.function.name }}({{ describe(tool.function.parameters) }})
{%- endfor %}
"""

TOOLS = [{"type": "function", "function": {
    "name": "get_weather", "description": "The weather \u2014 \"now\" & <soon> in S\u00e3o 'Paulo'", "return": {"type": "string"},
    "parameters": {"type": "object", "required": ["city"], "properties": {
        "unit": {"type": "string", "enum": ["C", "F"]}, "city": {"type": "string"},
        "days": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}, "x": {}}}}}}}}]
CALL = {"id": "abc123def", "type": "function", "function": {
    "name": "get_weather", "arguments": {"city": "K\u00f6ln", "days": [1, 2.5, None, True], "unit": ""}}}

CONVERSATIONS = [
    [{"role": "user", "content": " Hello \n"}],
    [{"role": "system", "content": "You are \u00fcber.\n"}, {"role": "user", "content": "Hi"},
     {"role": "assistant", "content": "<think>\nhm\n</think>\n\n  Hello!  "}, {"role": "user", "content": "\u6771\u4eac? '\"\\"}],
    [{"role": "user", "content": "Weather?"}, {"role": "assistant", "content": "", "tool_calls": [CALL]},
     {"role": "tool", "content": "21", "tool_call_id": "abc123def"}, {"role": "assistant", "content": "It is 21."},
     {"role": "user", "content": "Thanks"}],
    [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": " What? "}]}],
    [{"role": "assistant", "content": "wrong begin"}],
    [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}],
]

SNIPPETS = """{{ messages|length }}|{{ messages[-1].role }}|{{ messages[0]['content'] }}|{{ nothing }}|{{ nothing is defined }}
{{ 1 + 2 * 3 - 4 / 2 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 2 ** 10 }} {{ 2 ** -1 }} {{ 7.5 % 2 }} {{ 1e3 if false else 1.0 }}
{{ "a" ~ 1 ~ none ~ true ~ 1.5 ~ [1, 'x', none] ~ {'k': "it's", 'l': 2} }}
{{ "abc"[0] }}{{ "abc"[-1] }}{{ "abcdef"[1:4] }}{{ "abcdef"[::-1] }}{{ "abcdef"[-2:] }}{{ "abcdef"[:-2] }}{{ [1,2,3,4][1::2] }}{{ [1,2,3][5:] }}
{{ "a" in "cat" }} {{ "x" not in ["a"] }} {{ "role" in messages[0] }} {{ not true or true and false }} {{ 1 < 2 }} {{ "a" < "b" }}
{{ "x" if nothing else "y" }}{{ "z" if false }}{{ nothing or "o" }}{{ none and 1 }}{{ '' or 0 or [] }}
{{ "  a b  "|trim }}{{ "  a "|trim|length }}{{ "hello world"|title }}{{ "HELLO"|lower }}{{ "h\u00e9"|upper }}{{ "hello"|capitalize }}
{{ [3,1,2]|sort|join(",") }}{{ [3,1,2]|sort(reverse=true)|join("-") }}{{ ["b","A"]|sort }}{{ [1,2]|reverse|list }}{{ "abc"|reverse }}
{{ [1,2,3]|sum }}{{ [1,2,3]|max }}{{ [1,2,3]|min }}{{ [1,1,2]|unique|list }}{{ [1,2,3]|first }}{{ [1,2,3]|last }}{{ []|first is defined }}
{{ messages|map(attribute="role")|join("/") }}|{{ ["a","b"]|map("upper")|list }}|{{ [1,2,3,4]|select("odd")|list }}|{{ [1,2,3]|reject("eq", 2)|list }}
{{ messages|selectattr("role", "equalto", "user")|list|length }}{{ messages|rejectattr("role", "in", ["user"])|list|length }}
{{ nothing|default("d") }}{{ ""|default("e", true) }}{{ none|default("f") }}{{ 0|default(1, boolean=true) }}
{{ {"b": 1, "a": [1, {"c": none}]}|tojson }}{{ "\u00e9<>&'\\""|tojson }}{{ [1.0, 2.5, true]|tojson(indent=2) }}{{ {}|tojson }}{{ []|tojson(indent=2) }}
{{ {"b": 1, "a": 2}|dictsort }}{{ {"b": 1}.items()|list }}{{ {"b": 1}|items|list }}{{ {"b": 1}.get("c", 5) }}{{ {"b": 1}.get("c") }}{{ {"b":1}.keys()|list }}{{ {"b":1}.values()|list }}
{{ "a,b,,c".split(",") }}{{ " a  b ".split() }}{{ "a-b-c".split("-", 1) }}{{ "a-b-c".rsplit("-", 1) }}{{ "a\\nb\\r\\nc".splitlines() }}
{{ "xxabxx".strip("x") }}{{ "xxab".lstrip("x") }}{{ " a ".rstrip() }}{{ "abcabc".replace("b", "B") }}{{ "aaa".replace("a","b",2) }}{{ "abc".find("c") }}{{ "abab".count("ab") }}
{{ "abc".startswith("ab") }}{{ "abc".endswith(("x","bc")) }}{{ "-".join(["a","b"]) }}{{ "12".isdigit() }}{{ "ab".isalpha() }}{{ "ab cd".title() }}{{ "aB".upper() }}{{ "aB".lower() }}{{ "aB".capitalize() }}
{{ 3 is odd }}{{ 4 is even }}{{ 9 is divisibleby 3 }}{{ "x" is string }}{{ 1 is number }}{{ 1 is integer }}{{ 1.0 is float }}{{ {} is mapping }}{{ [] is sequence }}{{ true is boolean }}{{ none is none }}{{ 1 is not none }}{{ "a" is in ["a"] }}{{ 1 is eq 1 }}
{{ "5"|int + 1 }}{{ "x"|int }}{{ "2.5"|float }}{{ 3.7|int }}{{ -3|abs }}{{ 5|string + "!" }}{{ "a<b>&'"|e }}{{ "x"|safe }}{{ "a\\nb"|indent(2) }}|{{ "a\\n\\nb"|indent(1, true) }}
{% for i in range(3) %}{{ loop.index }}{{ loop.index0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.revindex }}{{ loop.cycle("a","b") }};{% endfor %}
{% for i in [] %}x{% else %}empty{% endfor %}{% for i in range(1, 10, 3) if i != 4 %}{{ i }},{{ loop.length }} {% endfor %}
{% for k, v in {"a": 1, "b": 2}.items() %}{{ k }}={{ v }}{% if not loop.last %}, {% endif %}{% endfor %}{% for c in "ab" %}[{{ c }}]{% endfor %}{% for k in {"q": 1} %}{{ k }}{% endfor %}
{% for i in range(10) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 5 %}{% break %}{% endif %}{{ i }}{% endfor %}
{% for i in [1,2,3] %}{{ loop.previtem }}<{{ i }}>{{ loop.nextitem }} {% endfor %}
{% set x = 1 %}{% for i in [1,2] %}{% set x = x + i %}{{ x }}{% endfor %}{{ x }}{% if true %}{% set x = 9 %}{% endif %}{{ x }}
{% set ns = namespace(n=0, s="") %}{% for i in [1,2,3] %}{% set ns.n = ns.n + i %}{% set ns.s = ns.s ~ i %}{% endfor %}{{ ns.n }}{{ ns.s }}
{% set a, b = 1, "two" %}{{ a }}{{ b }}{% set block %}in {{ a }}{% endset %}{{ block }}|{{ block|length }}
{% macro m(a, b="B", c=a) %}({{ a }}{{ b }}{{ c }}){% endmacro %}{{ m(1) }}{{ m(1, 2) }}{{ m(b=3, a=4) }}{{ m("x")|length }}
{% macro f(n) %}{% if n > 1 %}{{ n }}{{ f(n - 1) }}{% else %}.{% endif %}{% endmacro %}{{ f(4) }}
{% raw %}{{ not this }}{% endraw %}{# nor this #}{{ "{{" }}{{ '%}' }}
a  {%- if true %}  b  {%- endif -%}   c {{- 1 -}} d {{ 2 }}  e
   {% if true %}
  x
   {% endif %}
y
  {#- comment -#}  z  {{+ 1 }}
{%+ if true %}k{% endif %}  {%- set q = 1 +%}
l
{{ dict(a=1, b="x")|tojson }}{{ (1, 2) }}{{ [1, [2, 3]][1][0] }}{{ {"a": {"b": 5}}.a.b }}{{ {"a": 1}["a"] }}{{ [10, 20].1 }}
{{ -1|abs }}{{ (-1)|abs }}{{ not none is none }}{{ 1 if 2 is even else 0 }}{{ "a" "b" }}{{ 1_000 }}{{ [1,2,] }}{{ true == 1 }}{{ 1 == 1.0 }}{{ [1] == [1] }}{{ "1" == 1 }}
{{ nothing.attribute }}
{{ 1 + "a" }}
{{ nothing + "a" }}
{{ 1 / 0 }}
{{ raise_exception("No, thanks") }}
{{ {"a": 1} < 2 }}
{{ undefined_function() }}
{{ "%d" | nofilter }}
{{ 5 is notest }}
{{ "abc".nomethod() }}
{% for a, b in [[1,2],[3]] %}{{ a }}{% endfor %}
{% unknown %}
{{ (1 }}
{% if true %}
{{ "open }}
{{ 1 2 }}
{% endfor %}
{% set ns = {"a": 1} %}{% set ns.a = 2 %}
{% for i in 5 %}{% endfor %}
{{ [1][0:1:0] }}"""


def join_snippets():
    """Snippets are lines; one that goes on in the next lines ends where a line is empty."""
    lines = SNIPPETS.split("\n")
    first = lines.index("a  {%- if true %}  b  {%- endif -%}   c {{- 1 -}} d {{ 2 }}  e")
    last = lines.index("l")
    return lines[:first] + ["\n".join(lines[first : last + 1])] + lines[last + 1 :]


def make_up(count, seed):
    """Random templates: expressions of all kinds of values and operators, and tags with all kinds of spaces around them."""
    source = random.Random(seed)
    values = ["1", "0", "-3", "2.5", "'a'", "' b '", "''", "true", "false", "none", "nothing", "[1, 'x']", "[]", "{'k': 1}", "messages",
              "messages[0].role", "messages[-1]", "'abc'[1:]", "bos_token", "(1, 2)"]
    filters = ["trim", "length", "upper", "list", "first", "last", "tojson", "default('d')", "string", "join('-')", "int", "lower", "reverse | list", "title"]

    def expression(depth):
        kind = source.randrange(10) if depth > 0 else 0
        if kind <= 2:
            return source.choice(values)
        if kind == 3:
            return f"({expression(depth - 1)}) {source.choice(['+', '-', '*', '~', '==', '!=', '<', 'and', 'or', 'in', 'not in', '%', '//'])} ({expression(depth - 1)})"
        if kind == 4:
            return f"({expression(depth - 1)}) | {source.choice(filters)}"
        if kind == 5:
            return f"({expression(depth - 1)}) is {source.choice(['', 'not '])}{source.choice(['defined', 'none', 'string', 'number', 'mapping', 'iterable', 'true'])}"
        if kind == 6:
            return f"({expression(depth - 1)} if {expression(depth - 1)} else {expression(depth - 1)})"
        if kind == 7:
            return f"not {expression(depth - 1)}"
        if kind == 8:
            return f"[{expression(depth - 1)}, {expression(depth - 1)}][{source.choice(['0', '1', '-1', '2', ':1', '::-1'])}]"
        return f"({expression(depth - 1)}).{source.choice(['k', 'role', 'strip()', 'upper()', 'split()', 'items() | list'])}"

    def tag(content, opening, closing):
        return opening + source.choice(["", "", "-", "+" if opening == "{%" else ""]) + f" {content} " + source.choice(["", "", "-"]) + closing

    def block(depth):
        text = ""
        for _ in range(source.randrange(1, 4)):
            text += source.choice(["", "a", " ", "\n", "\n  ", "  b \n", "\t"])
            kind = source.randrange(5) if depth > 0 else 0
            if kind <= 1:
                text += tag(expression(2), "{{", "}}")
            elif kind == 2:
                text += tag("if " + expression(2), "{%", "%}") + block(depth - 1) + tag("else", "{%", "%}") + block(depth - 1) + tag("endif", "{%", "%}")
            elif kind == 3:
                text += tag(f"for i in {source.choice(['messages', '[1, 2, 3]', 'range(2)', expression(1)])}", "{%", "%}") + block(depth - 1) + tag("loop.index", "{{", "}}") + tag("endfor", "{%", "%}")
            else:
                text += tag("set v = " + expression(2), "{%", "%}") + tag("v", "{{", "}}")
        return text

    return [block(2) for _ in range(count)]


def make():
    """(template, conversation, whether a prompt is added) of all cases."""
    cases = []
    for template in (LLAMA3, QWEN, GEMMA, MISTRAL, PHI3, MACROS):
        for messages in CONVERSATIONS:
            for tools in (None, TOOLS):
                cases.append((template, {"messages": messages, "tools": tools}, tools is None))
    cases += [(template, {"messages": CONVERSATIONS[1]}, True) for template in join_snippets() + make_up(1500, seed=5)]
    return cases
