"""Markup, numbers as a reader wants them, and charts as inline SVG; style and scripts of the page.

Charts take records and arrays, and give markup. Colours are CSS classes, so that light and dark pages share a drawing.
"""
