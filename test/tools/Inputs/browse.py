# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Opens a page in a headless browser: browse.py BROWSER PAGE [--pictures FOLDER] TEXT...

At 1400 and 400 pixels, in light and dark: nothing is wider than the window, no script fails, nothing is logged as an error, the page has both color
schemes, and each TEXT is a heading or a part of the page's text. Chromium's DevTools protocol, through a pipe.
"""

import argparse
import base64
import json
import os
import subprocess
import tempfile
import time

TIMEOUT = 60

# What is wider than the window, without what scrolls by itself.
WIDE = """(() => {
  const width = document.documentElement.clientWidth, wide = [];
  const scrolls = element => element && element !== document.documentElement &&
      (["auto", "scroll", "hidden"].includes(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
  for (const element of document.body.querySelectorAll("*"))
    if (element.getBoundingClientRect().right > width + 1 && !scrolls(element.parentElement))
      wide.push(element.tagName + "." + element.className + "#" + element.id);
  return {window: innerWidth, page: document.documentElement.scrollWidth, wide: wide.slice(0, 5),
          text: document.body.textContent, background: getComputedStyle(document.body).backgroundColor};
})()"""


class Browser:
    def __init__(self, program, profile, *options):
        toChild, ours = os.pipe()
        theirs, fromChild = os.pipe()
        # The protocol's places are descriptors 3 and 4.
        command = ["sh", "-c", f'exec "$0" "$@" 3<&{toChild} 4>&{fromChild}', program, "--headless", "--no-sandbox", "--disable-gpu"]
        command += ["--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-pipe", f"--user-data-dir={profile}", *options, "about:blank"]
        self.process = subprocess.Popen(command, pass_fds=(toChild, fromChild), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(toChild)
        os.close(fromChild)
        self.input, self.output = os.fdopen(ours, "wb"), os.fdopen(theirs, "rb")
        self.buffer, self.number, self.errors = b"", 0, []
        self.session = None

    def receive(self):
        while b"\0" not in self.buffer:
            more = os.read(self.output.fileno(), 1 << 16)
            assert more, "the browser has ended"
            self.buffer += more
        message, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(message)
        if message.get("method") == "Runtime.exceptionThrown":
            self.errors.append(message["params"]["exceptionDetails"]["text"])
        if message.get("method") == "Log.entryAdded" and message["params"]["entry"]["level"] == "error":
            self.errors.append(message["params"]["entry"]["text"])
        return message

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        self.input.write(json.dumps(message).encode() + b"\0")
        self.input.flush()
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, f"{expression}: {result['exceptionDetails']}"
        return result["result"].get("value")

    def open(self, url, width, scheme):
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=url)
        end = time.monotonic() + TIMEOUT
        while self.evaluate("document.readyState + ' ' + location.href.split('#')[0]") != "complete " + url:
            assert time.monotonic() < end, f"{url} does not load"
            time.sleep(0.05)
        # Scripts that wait for the page, and for each other.
        self.evaluate("new Promise(resolve => setTimeout(resolve, 300))")

    def close(self):
        self.session = None
        self.call("Browser.close")
        self.process.wait(TIMEOUT)


def check(browser, page, width, scheme, texts, pictures):
    url = "file://" + os.path.abspath(page)
    browser.open(url, width, scheme)
    found = browser.evaluate(WIDE)
    where = f"{page} at {width} pixels, {scheme}"
    assert found["window"] == width, f"{where}: the window has {found['window']} pixels"
    assert found["page"] <= width and not found["wide"], f"{where}: {found['page']} pixels are used, by {found['wide']}"
    for text in texts:
        assert text in found["text"], f"{where}: has no '{text}'"
    assert not browser.errors, f"{where}: {browser.errors}"
    if pictures:
        shot = browser.call("Page.captureScreenshot", captureBeyondViewport=True)
        with open(os.path.join(pictures, f"{os.path.basename(page)}-{width}-{scheme}.png"), "wb") as file:
            file.write(base64.b64decode(shot["data"]))
    return found["background"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("browser")
    parser.add_argument("page")
    parser.add_argument("texts", nargs="*")
    parser.add_argument("--pictures")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        # A picture of the whole page is laid out without the bar.
        browser = Browser(options.browser, profile, *(["--hide-scrollbars"] if options.pictures else []))
        try:
            for width in (1400, 400):
                colors = {scheme: check(browser, options.page, width, scheme, options.texts, options.pictures) for scheme in ("light", "dark")}
                assert colors["light"] != colors["dark"], f"{options.page}: is as light in dark"
        finally:
            browser.close()
    print(f"{os.path.basename(options.page)}: fits")


main()
