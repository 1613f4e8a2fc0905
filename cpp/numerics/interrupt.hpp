// Interruption of long computations.
#pragma once

#include <functional>

namespace rocpath {

// Called regularly during long computations; may throw to end them.
using Interrupt = std::function<void()>;

}  // namespace rocpath
