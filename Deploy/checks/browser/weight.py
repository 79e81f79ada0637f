"""What a page weighs."""
from .parts import problems

# With its style, its script and its icon, as sent.
LIMIT = 100_000
SIZES = """return [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].map(
(entry) => entry.encodedBodySize).reduce((sum, size) => sum + size, 0)"""


def weighed(browser, address, pages):
    """The heaviest page and its bytes."""
    sizes = {}
    for path in pages:
        # The browser itself complains of a page that is not there.
        if path == "/nothing":
            continue
        browser.open(address + path)
        sizes[path] = browser.driver.execute_script(SIZES)
        if not 0 < sizes[path] <= LIMIT:
            problems.append(f"{path[:80]}: weighs {sizes[path]} bytes")
    return max(sizes.items(), key=lambda each: each[1])
