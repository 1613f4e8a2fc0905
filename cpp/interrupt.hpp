// The one way to stop a long loop.
#pragma once

#include <functional>

namespace rocpath {

// Called now and then during long work; may throw to end it.
using Interrupt = std::function<void()>;

}  // namespace rocpath
