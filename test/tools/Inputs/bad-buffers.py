# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes lists of buffers that are wrong, each in one way.
HEADER = "id,lower,upper,size\n"
FILES = {
    "empty": "",
    "missing": "id,lower,upper\na,0,1\n",
    "unknown": "id,lower,upper,size,colour\n",
    "twice": "id,lower,upper,size,size\n",
    "short": HEADER + "a,0,1,8\nb,0,1\n",
    "word": HEADER + "a,0,1,many\n",
    "range": HEADER + "a,0,99999999999999999999,8\n",
    "backwards": HEADER + "a,0,1,8\nb,7,6,8\n",
    "negative": HEADER + "a,0,1,-1\n",
    "same": HEADER + "a,0,1,8\n\na,0,1,8\n",
    "sum": HEADER + f"a,0,1,{2**62}\nb,5,6,{2**62}\n",
    "alignment": "id,lower,upper,size,alignment\na,0,1,8,0\n",
    "bytes": "\0\xff\x80",
}
for name, text in FILES.items():
    with open(name + ".csv", "w", encoding="latin-1") as file:
        file.write(text)
