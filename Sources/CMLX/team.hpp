// Threads that share the blocks of one job.
#pragma once
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace hearth {

/// Helpers sleep between jobs and take blocks one by one, so that a busy core delays one block and no job waits for a helper
/// that has not begun.
template <class Job> class Team {
  public:
    /// Runs `work(job, from, to)` for blocks of rows on the calling thread and at most `threads - 1` others.
    void run(const Job &given, int rows, int block, int threads, void (*work)(const Job &, int, int)) {
        if (threads <= 1 || rows <= block) return work(given, 0, rows);
        std::unique_lock lock(mutex);
        while (int(helpers.size()) < threads - 1) helpers.emplace_back([this] { help(); });
        job = &given, this->work = work, count = rows, size = block, next = 0, wanted = threads - 1;
        lock.unlock();
        wake.notify_all();
        take();
        lock.lock();
        wanted = 0;
        idle.wait(lock, [&] { return inside == 0; });
    }

  private:
    void take() {
        for (int from; (from = next.fetch_add(size)) < count;) work(*job, from, std::min(count, from + size));
    }

    void help() {
        std::unique_lock lock(mutex);
        while (true) {
            wake.wait(lock, [&] { return wanted > 0; });
            wanted--, inside++;
            lock.unlock();
            take();
            lock.lock();
            if (--inside == 0) idle.notify_all();
        }
    }

    std::mutex mutex;
    std::condition_variable wake, idle;
    std::vector<std::thread> helpers;
    const Job *job = nullptr;
    void (*work)(const Job &, int, int) = nullptr;
    std::atomic<int> next = 0;
    int count = 0, size = 1, wanted = 0, inside = 0;
};

} // namespace hearth
