#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Looks at pages of drainctl report in a headless browser.
#
# It steers one Chromium over a pipe (the DevTools protocol), so the pages are looked at
# as they are, without a script in them.  Each is shown as on a phone and on a desk, light
# and dark, and printed; pictures and PDF go to a folder.  It makes no page:
# tests/report/browser does, and says what each has to show.

import base64
import fcntl
import json
import os
import select
import subprocess
import sys
import tempfile
import time

LIMIT = 60
PHONE = {"width": 390, "height": 844, "mobile": True}
DESK = {"width": 1280, "height": 900, "mobile": False}
# A4 within the margins of a browser, in CSS pixels
PAPER = {"width": 718, "height": 1000, "mobile": False}

VIEWS = [
    ("phone", PHONE, "light", ""),
    ("phone-dark", PHONE, "dark", ""),
    ("desk", DESK, "light", ""),
    ("desk-dark", DESK, "dark", ""),
    ("print", PAPER, "dark", "print"),
]

# What a page is asked for.  Contrast is that of WCAG 2, 4.5 for text.
PROBE = r"""(() => {
  const rgb = s => s.match(/[\d.]+/g).slice(0, 3).map(Number);
  const lum = s => { const c = rgb(s).map(v => v / 255).map(
    v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]; };
  const contrast = (a, b) => { const x = lum(a), y = lum(b);
    return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); };
  const ground = getComputedStyle(document.body).backgroundColor;
  const all = s => [...document.querySelectorAll(s)];
  const weak = all('body *').filter(e => [...e.childNodes].some(
      n => n.nodeType == 3 && n.data.trim()) && !e.closest('title,desc')).filter(e => {
    const st = getComputedStyle(e), box = e.closest('pre');
    const colour = e.closest('svg') ? st.fill : st.color;
    return contrast(colour, box ? getComputedStyle(box).backgroundColor : ground) < 4.5; });
  const badge = document.querySelector('.badge');
  const visible = e => e.checkVisibility({contentVisibilityAuto: true});
  const cut = all('svg text').filter(t => visible(t)).filter(t => { const b = t.getBBox();
    return b.x < -0.5 || b.x + b.width > t.ownerSVGElement.viewBox.baseVal.width + 0.5; });
  const small = all('svg text').filter(t => visible(t)).filter(t =>
    parseFloat(getComputedStyle(t).fontSize) * t.ownerSVGElement.clientWidth /
    t.ownerSVGElement.viewBox.baseVal.width < 10.5);
  return {
    width: innerWidth, scroll: document.documentElement.scrollWidth,
    dark: lum(ground) < 0.2,
    badge: badge ? badge.textContent : '',
    badge_bottom: badge ? badge.getBoundingClientRect().bottom : 1e9,
    text: document.body.textContent,
    weak: weak.slice(0, 3).map(e => e.tagName + ' ' + e.textContent.slice(0, 40)),
    charts: all('svg').length,
    untitled: all('svg').filter(s => s.getAttribute('role') != 'img' ||
      !s.querySelector('title') || !s.querySelector('title').textContent.trim()).length,
    cut: cut.slice(0, 3).map(t => t.textContent),
    small: small.length,
    wide: all('.scroll').filter(e => visible(e) && e.scrollWidth > e.clientWidth).length,
    outside: all('.scroll,pre,svg,dl').filter(visible).filter(e =>
      e.getBoundingClientRect().right > innerWidth + 0.5).length,
    foreign: all('script,img,iframe,object,embed,link,form,base,video,audio').length,
    folded: all('details').filter(d => !d.open && d.children.length > 1 &&
      !visible(d.children[1])).length,
    details: all('details').length,
  };
})()"""


class Browser:
    """One Chromium and one tab of it."""

    def __init__(self, home):
        to_child, self.out = os.pipe()
        self.inp, from_child = os.pipe()
        # beyond the numbers that the shell below sets
        ends = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (to_child, from_child)]
        os.close(to_child)
        os.close(from_child)
        command = [
            "chromium", "--headless", "--no-sandbox", "--disable-gpu",
            "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
            "--disable-background-networking", "--disable-component-update",
            "--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-pipe",
            "--user-data-dir=" + home, "about:blank"]
        with open(os.path.join(home, "log"), "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                ["bash", "-c", 'exec "$@" 3<&%d 4>&%d' % tuple(ends), "-"] + command,
                pass_fds=ends, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=dict(os.environ, HOME=home))
        for fd in ends:
            os.close(fd)
        self.buffer = b""
        self.number = 0
        self.events = []
        self.session = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target,
                                flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(domain + ".enable")

    def receive(self, limit):
        """The next message, None after the limit."""
        end = time.monotonic() + limit
        while b"\0" not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.inp], [], [], left)[0]:
                return None
            data = os.read(self.inp, 1 << 20)
            if not data:
                raise RuntimeError("the browser has ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, **params):
        """Sends a command and waits for its answer; events meanwhile are kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        while True:
            answer = self.receive(LIMIT)
            if answer is None:
                raise RuntimeError("no answer to " + method)
            if answer.get("id") != self.number:
                self.events.append(answer)
                continue
            if "error" in answer:
                raise RuntimeError("%s: %s" % (method, answer["error"]))
            return answer["result"]

    def show(self, url):
        """Loads a page and waits until all of it is there."""
        self.events = []
        self.ask("Page.navigate", url=url)
        end = time.monotonic() + LIMIT
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            event = self.receive(end - time.monotonic())
            if event is None:
                raise RuntimeError("not loaded: " + url)
            self.events.append(event)

    def view(self, size, scheme, media):
        """How the page is to be shown."""
        self.ask("Emulation.setDeviceMetricsOverride", deviceScaleFactor=1, **size)
        self.ask("Emulation.setEmulatedMedia", media=media,
                 features=[{"name": "prefers-color-scheme", "value": scheme}])

    def probe(self):
        """What there is to see."""
        result = self.ask("Runtime.evaluate", expression=PROBE, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:500])
        return result["result"]["value"]

    def picture(self, path, whole=False):
        """A screenshot."""
        data = self.ask("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))

    def pdf(self, path):
        """The page as it is printed."""
        data = base64.b64decode(self.ask("Page.printToPDF", printBackground=True)["data"])
        with open(path, "wb") as f:
            f.write(data)
        return data

    def complaints(self, url):
        """Requests for something else, errors, and whatever was written to the console."""
        found = []
        for event in self.events:
            method, p = event.get("method"), event.get("params", {})
            if method == "Network.requestWillBeSent" and p["request"]["url"] != url:
                found.append("request: " + p["request"]["url"])
            elif method == "Runtime.exceptionThrown":
                found.append("exception")
            elif method == "Runtime.consoleAPICalled":
                found.append("console: " + p["type"])
            elif method == "Log.entryAdded":
                found.append("log: " + p["entry"]["text"])
        return found

    def close(self):
        """Ends it, and only it."""
        try:
            self.session = None
            self.ask("Browser.close")
            self.process.wait(10)
        except (RuntimeError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()


def judge_view(name, seen, dark, media, page):
    """What is wrong with what one view shows."""
    wrong = []
    if seen["scroll"] > seen["width"]:
        wrong.append("%s: %d wide in a window of %d" % (name, seen["scroll"], seen["width"]))
    if seen["outside"]:
        wrong.append("%s: %d boxes reach out of the window" % (name, seen["outside"]))
    if seen["dark"] != (dark and not media):
        wrong.append("%s: the ground is %s" % (name, "dark" if seen["dark"] else "light"))
    if seen["badge"] != page["verdict"]:
        wrong.append("%s: the first verdict is '%s'" % (name, seen["badge"]))
    if seen["badge_bottom"] > 400:
        wrong.append("%s: the verdict is %d down" % (name, seen["badge_bottom"]))
    if seen["weak"]:
        wrong.append("%s: too little contrast: %s" % (name, seen["weak"]))
    if seen["cut"]:
        wrong.append("%s: text of a chart is cut off: %s" % (name, seen["cut"]))
    if seen["small"] and not media:
        wrong.append("%s: %d texts of charts are too small" % (name, seen["small"]))
    if seen["untitled"]:
        wrong.append("%s: %d charts have no title" % (name, seen["untitled"]))
    if media and seen["folded"]:
        wrong.append("%s: %d parts are printed folded" % (name, seen["folded"]))
    if seen["foreign"]:
        wrong.append("%s: %d elements that load or run something" % (name, seen["foreign"]))
    return wrong


def look(browser, page, out):
    """All views of a page.  Returns what is wrong with it."""
    url = "file://" + page["path"]
    base = os.path.join(out, page["name"])
    wrong = []
    browser.view(PHONE, "light", "")
    browser.show(url)
    for name, size, scheme, media in VIEWS:
        browser.view(size, scheme, media)
        seen = browser.probe()
        wrong += judge_view(name, seen, scheme == "dark", media, page)
        if "wrong" not in page:
            browser.picture("%s-%s.png" % (base, name), whole=not media)
        if name == "phone":
            if seen["charts"] < page["charts"]:
                wrong.append("%d charts" % seen["charts"])
            if page.get("wide") and not seen["wide"]:
                wrong.append("no table scrolls in its box")
            wrong += ["it lacks '%s'" % t for t in page["texts"] if t not in seen["text"]]
    browser.view(DESK, "light", "")
    pdf = browser.pdf(base + ".pdf")
    if not pdf.startswith(b"%PDF-") or len(pdf) < 5000:
        wrong.append("the PDF has %d bytes" % len(pdf))
    wrong += browser.complaints(url)
    with open(page["path"], encoding="utf-8") as f:
        source = f.read()
    if not page.get("foreign_text"):
        wrong += ["it holds '%s'" % w for w in ("http:", "https:", "src=", "url(", "@import")
                  if w in source]
    return wrong


def main():
    """look.py PAGES.json FOLDER"""
    with open(sys.argv[1], encoding="utf-8") as f:
        pages = json.load(f)
    out = sys.argv[2]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="drainstress-browser-",
                                     ignore_cleanup_errors=True) as home:
        browser = Browser(home)
        try:
            for page in pages:
                wrong = look(browser, page, out)
                # a page that was broken on purpose: each of these has to be noticed
                want = page.get("wrong")
                if want is None:
                    bad = wrong
                else:
                    bad = ["not noticed: " + w for w in want if not any(w in x for x in wrong)]
                print("%s - %s" % ("not ok" if bad else "ok", page["what"]))
                for line in bad[:20]:
                    print("#   " + line)
                failed += bool(bad)
        finally:
            browser.close()
    return 1 if failed or not pages else 0


sys.exit(main())
