"""Fixtures of the browser tests."""

from benchpipe_tests.browser.kitchen import kitchen, page

__all__ = ["kitchen", "page"]
