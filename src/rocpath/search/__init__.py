"""The line searches: lines, areas, exact steps along a line, and descents."""
