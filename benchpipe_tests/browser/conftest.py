"""Fixtures of the browser tests."""

from benchpipe_tests.browser.kitchen import browser, kitchen, page

__all__ = ["browser", "kitchen", "page"]
