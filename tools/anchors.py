# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Anchors of headings, for the site and for the test of documents."""

import re


def anchor(heading):
    """The id of a heading, as forges make it and links name it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
