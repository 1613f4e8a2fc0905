// Background threads. No other header starts threads.
//
// A search runs at most one task in the background at a time. The tasks of all searches in the
// process together use at most `thread_limit() - 1` threads, so that eight callers on two cores do
// not start eight more threads. A task that gets no thread, because of the limit or because the
// system cannot start one, runs when its result is requested, with the same result.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>

#if !defined(__wasm__)
#define ROCPATH_HAS_THREADS
#include <thread>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace rocpath {

namespace detail {

// The first number in an environment variable such as "4" or "4,2"; nothing if the variable is not
// set. A value that is not a positive number is an error if `must_be_valid` is set, and is ignored
// otherwise.
inline std::optional<int> threads_from_environment(const char* name, bool must_be_valid) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return {};
  char* end = nullptr;
  const long number = std::strtol(value, &end, 10);
  const bool is_valid = end != value && number > 0 && number <= 1'000'000 &&
                        (*end == '\0' || (!must_be_valid && *end == ','));
  if (is_valid) return static_cast<int>(number);
  if (must_be_valid)
    throw std::invalid_argument(std::string(name) + " must be a positive integer, got '" + value +
                                "'.");
  return {};
}

inline int thread_limit_of_process() {
  static const int limit = [] {
    if (const auto own = threads_from_environment("ROCPATH_NUM_THREADS", true)) return *own;
    // Workers of joblib and Dask have this set to 1.
    if (const auto shared = threads_from_environment("OMP_NUM_THREADS", false)) return *shared;
#ifdef ROCPATH_HAS_THREADS
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
#else
    return 1;
#endif
  }();
  return limit;
}

inline int& thread_limit_of_caller() {
  thread_local int limit = 0;  // 0 for the limit of the process
  return limit;
}

// The number of tasks that have a thread. A child process does not inherit those of its parent.
inline std::atomic<int>& n_task_threads() {
  static std::atomic<int> n{0};
#if defined(__unix__) || defined(__APPLE__)
  static const int registered = pthread_atfork(nullptr, nullptr, [] { n = 0; });
  (void)registered;
#endif
  return n;
}

}  // namespace detail

// Maximum number of threads that searches called by this thread may use, including the thread
// itself.
inline int thread_limit() {
  const int of_caller = detail::thread_limit_of_caller();
  return of_caller > 0 ? of_caller : detail::thread_limit_of_process();
}

// Set the limit of the calling thread; 0 restores that of the process.
inline void set_thread_limit(int limit) { detail::thread_limit_of_caller() = limit; }

// A task that runs in the background if it is long enough to be worth a thread and one is
// available.
template <class Result>
class BackgroundTask {
 public:
  BackgroundTask() = default;
  template <class Work>
  BackgroundTask(bool is_long, Work work) : state_(std::make_unique<State>()) {
    state_->work = std::move(work);
    if (is_long) start();
  }
  BackgroundTask(BackgroundTask&&) noexcept = default;
  BackgroundTask& operator=(BackgroundTask&& other) noexcept {
    wait();
    state_ = std::move(other.state_);
    return *this;
  }
  ~BackgroundTask() { wait(); }

  // Whether there is a result that has not been requested yet.
  bool is_pending() const { return state_ != nullptr; }

  // The result, or the exception that the work threw. Requires: a pending task.
  Result get() {
    wait();
    const std::unique_ptr<State> state = std::move(state_);
    if (!state->is_done) state->run();
    if (state->exception) std::rethrow_exception(state->exception);
    if constexpr (!std::is_void_v<Result>) return std::move(*state->result);
  }

 private:
  using Value = std::conditional_t<std::is_void_v<Result>, std::monostate, Result>;

  struct State {
    std::function<Result()> work;
    std::optional<Value> result;
    std::exception_ptr exception;
    bool is_done = false;
#ifdef ROCPATH_HAS_THREADS
    std::thread thread;
#endif

    void run() noexcept {
      try {
        if constexpr (std::is_void_v<Result>)
          work();
        else
          result.emplace(work());
      } catch (...) {
        exception = std::current_exception();
      }
      is_done = true;
    }
  };
  std::unique_ptr<State> state_;

  void start() {
#ifdef ROCPATH_HAS_THREADS
    const int most = thread_limit() - 1;
    std::atomic<int>& n_running = detail::n_task_threads();
    if (n_running.fetch_add(1) < most) {
      try {
        state_->thread = std::thread([&n_running, state = state_.get()] {
          state->run();
          n_running.fetch_sub(1);
        });
        return;
      } catch (const std::system_error&) {  // for example under a limit on threads or memory
      }
    }
    n_running.fetch_sub(1);
#endif
  }

  void wait() {
#ifdef ROCPATH_HAS_THREADS
    if (state_ && state_->thread.joinable()) state_->thread.join();
#endif
  }
};

}  // namespace rocpath
