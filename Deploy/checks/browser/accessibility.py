"""axe-core on every page, light and dark, narrow and wide, with and without JavaScript."""
import concurrent.futures
import pathlib
import re

import axe_playwright_python

from .page import Browser
from .parts import problems

axe = (pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
AXE = """const [rules, done] = arguments; axe.run(document, {resultTypes: ['violations'], runOnly: rules}).then(r => done(
r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.target.join(' ') + ' ' + n.failureSummary).slice(0, 3).join(' | '))))"""
EVERYTHING = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# All else is the same in the other scheme: the style sheet changes colours alone.
COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}


def examined(browser, address, pages, kept):
    """axe-core on every page, by two browsers at a time; a picture of each goes to a directory."""
    second = Browser()
    try:
        for cookie in browser.driver.execute_cdp_cmd("Network.getCookies", {"urls": [address]})["cookies"]:
            second.driver.execute_cdp_cmd("Network.setCookie", {
                "url": address, **{name: cookie[name] for name in ("name", "value", "path", "secure", "httpOnly")}})
        with concurrent.futures.ThreadPoolExecutor(2) as both:
            return sum(both.map(lambda part: examined_by(part[0].driver, address, part[1], kept), [
                (browser, pages[::2]), (second, pages[1::2])]))
    finally:
        second.driver.quit()


def examined_by(driver, address, pages, kept):
    """With the pages' own scripts and without; axe needs what the pages' own policy forbids them."""
    driver.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})
    # A page with hundreds of rows takes axe-core longer than the usual half minute on a busy machine.
    driver.set_script_timeout(120)
    count = 0
    for path in pages:
        for scripts in (True, False):
            for width in (360, 1280):
                driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                    "width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False})
                driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not scripts})
                driver.get(address + path)
                # The page was read without scripts, and only the driver's run from here on.
                driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
                driver.execute_script(axe)
                for scheme in ("light", "dark"):
                    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
                        "features": [{"name": "prefers-color-scheme", "value": scheme}]})
                    found = driver.execute_async_script(AXE, EVERYTHING if scheme == "light" else COLOURS)
                    place = f"{path[:80]} {scheme} {width}{'' if scripts else ' without scripts'}"
                    problems.extend(f"axe: {place}: {each}" for each in found)
                    wide = driver.execute_script("return document.documentElement.scrollWidth - window.innerWidth")
                    if wide > 0:
                        problems.append(f"{place}: {wide} px wider than the window")
                    if scripts and width == 1280:
                        name = re.sub(r"\W+", "-", path).strip("-")[:60] or "overview"
                        driver.save_screenshot(str(kept / f"{name}-{scheme}.png"))
                    count += 1
    driver.execute_cdp_cmd("Page.setBypassCSP", {"enabled": False})
    return count
