"""Check that each header of ``cpp`` includes the standard headers of the names it uses.

``python .ci/check_includes.py`` prints each missing header; with ``--fix`` it adds them.
A name that several standard headers declare counts as included with any of them.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
NAMES = {  # header: names of std
    "algorithm": "sort stable_sort min max minmax_element min_element max_element clamp find "
    "find_if any_of all_of none_of copy fill transform nth_element partition_point "
    "lower_bound upper_bound is_sorted reverse stable_partition unique",
    "array": "array",
    "atomic": "atomic",
    "bit": "bit_cast bit_width countr_zero countl_zero has_single_bit popcount",
    "cmath": "fabs fma ldexp frexp nextafter isfinite isinf isnan copysign sqrt cbrt floor ceil "
    "log exp nearbyint fmod ilogb pow fmax fmin hypot log1p expm1",
    "concepts": "same_as convertible_to integral floating_point",
    "condition_variable": "condition_variable",
    "cstddef": "size_t ptrdiff_t",
    "cstdint": "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t",
    "cstring": "memcpy memset",
    "exception": "exception_ptr current_exception rethrow_exception",
    "functional": "function less greater",
    "future": "future promise async",
    "limits": "numeric_limits",
    "map": "map",
    "memory": "shared_ptr unique_ptr make_shared make_unique",
    "mutex": "mutex lock_guard unique_lock scoped_lock",
    "new": "bad_alloc",
    "numeric": "iota accumulate reduce partial_sum inner_product",
    "optional": "optional nullopt",
    "queue": "priority_queue queue",
    "span": "span",
    "stdexcept": "runtime_error logic_error invalid_argument",
    "string": "string to_string",
    "string_view": "string_view",
    "thread": "thread",
    "tuple": "tuple tie",
    "type_traits": "is_same_v decay_t remove_cvref_t conditional_t invoke_result_t is_trivially_"
    "copyable_v",
    "utility": "pair move swap exchange forward",
    "variant": "variant",
    "vector": "vector",
}


def missing_headers(text):
    """Return the standard headers that a source needs and does not include."""
    code = re.sub(r"//[^\n]*", "", text)
    included = set(re.findall(r"^#include <(\w+)>", text, re.MULTILINE))
    used = set(re.findall(r"\bstd::(\w+)", code))
    return sorted(
        header
        for header, names in NAMES.items()
        if header not in included and used & set(names.split())
    )


def with_headers(text, headers):
    """Return the text with more standard headers, in alphabetical order."""
    present = re.findall(r"^#include <(?:\w+)>\n", text, re.MULTILINE)
    lines = sorted({*present, *(f"#include <{header}>\n" for header in headers)})
    for line in present:
        text = text.replace(line, "", 1)
    start = text.index("#pragma once\n") + len("#pragma once\n")
    return f"{text[:start]}\n{''.join(lines)}\n{text[start:].lstrip()}"


def main():
    """Print the missing headers, or add them; return whether any is missing."""
    n_missing = 0
    for path in sorted(ROOT.glob("cpp/**/*.hpp")):
        text = path.read_text()
        missing = missing_headers(text)
        if not missing or path.parent.name == "python":
            continue
        if "--fix" in sys.argv:
            path.write_text(with_headers(text, missing))
        else:
            n_missing += 1
            print(f"{path.relative_to(ROOT)} uses <{'>, <'.join(missing)}>")
    return 1 if n_missing else 0


if __name__ == "__main__":
    sys.exit(main())
