import Foundation
import HearthAssistant
import HearthBase

/// Rings: looks for alarms, tells pages and the desktop, and takes the answers of both.
actor RingDesk {
    private let keeper: RingKeeper
    private let desktop: (any RingDesktop)?
    private let words: RingWords
    private let log: EventLog
    private let time: TimeSource
    /// Tells that records of a kind have changed.
    private let changed: @Sendable (StoreKind) -> Void
    private var missed = 0
    /// The rings that a page has played, the oldest first.
    private var played: [String] = []
    private var sleeper: Task<Void, Never>?
    /// Whether records have changed since the last look began.
    private var isWoken = false
    /// Whether a look has ended, and the callers that wait for the first.
    private var hasLooked = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var work: [Task<Void, Never>] = []

    /// The most rings whose playing is remembered.
    private static let playedLimit = 256

    init(
        _ keeper: RingKeeper, desktop: (any RingDesktop)?, words: RingWords, log: EventLog, time: TimeSource,
        changed: @escaping @Sendable (StoreKind) -> Void
    ) {
        self.keeper = keeper
        self.desktop = desktop
        self.words = words
        self.log = log
        self.time = time
        self.changed = changed
    }

    /// Begins to look, and to take answers of the desktop.
    func start() {
        guard work.isEmpty else { return }
        work.append(Task { [weak self] in while let wait = await self?.lookAndTell() { await self?.sleep(wait) } })
        guard let answers = desktop?.answers else { return }
        work.append(
            Task { [weak self] in
                for await answer in answers {
                    do {
                        _ = try await self?.answer(answer.id, answer.answer)
                    } catch {
                        Log.write(.info, "native", "an answer on the desktop changed nothing", [.error(error)])
                    }
                }
            })
    }

    /// Ends looks and answers, before the records are closed.
    func close() async {
        let ending = work
        work = []
        for task in ending { task.cancel() }
        sleeper?.cancel()
        desktop?.close()
        endWaiting()
        for task in ending { await task.value }
    }

    private func endWaiting() {
        hasLooked = true
        for waiter in waiting { waiter.resume() }
        waiting = []
    }

    /// Looks now: records have changed.
    func wake() {
        isWoken = true
        sleeper?.cancel()
    }

    private func sleep(_ wait: Duration) async {
        guard !isWoken else { return }
        let sleeper = Task { [time] in
            // A cancelled sleep is the next look.
            _ = try? await time.sleep(for: wait)
        }
        self.sleeper = sleeper
        await withTaskCancellationHandler {
            await sleeper.value
        } onCancel: {
            sleeper.cancel()
        }
    }

    /// Looks once.
    /// - Returns: the time until the next look; `nil` at the end.
    func lookAndTell() async -> Duration? {
        guard !Task.isCancelled else { return nil }
        isWoken = false
        defer { endWaiting() }
        do {
            let look = try await keeper.look()
            for ring in look.rings {
                log.add("ring", RingBegun(ring: ring))
                desktop?.show(DesktopNote(ring, words, now: time.now))
            }
            for id in look.ended { tellEnd(id) }
            if look.missed > 0 {
                missed += look.missed
                log.add("rings-missed", MissedRings(missed: missed))
                desktop?.show(DesktopNote(id: "missed", title: "Hearth", body: words.missed(look.missed)))
            }
            return look.wait
        } catch {
            Log.write(.warning, "native", "alarms cannot be looked at", [.error(error)])
            return .seconds(60)
        }
    }

    private func tellEnd(_ id: String) {
        log.add("ring-ended", RingEnded(id: id))
        desktop?.withdraw(id)
    }

    // MARK: Routes

    func list() async -> RingsBody {
        if !hasLooked { await withCheckedContinuation { waiting.append($0) } }
        let event = log.lastID
        return RingsBody(rings: await keeper.open, missed: missed, event: event)
    }

    /// Whether a page is the first that plays a ring.
    func play(_ id: String) async -> Bool {
        guard await keeper.open.contains(where: { $0.id == id }), !played.contains(id) else { return false }
        played.append(id)
        if played.count > Self.playedLimit { played.removeFirst() }
        return true
    }

    func answer(_ id: String, _ answer: RingAnswer) async throws -> RecordEdit? {
        do {
            let edit = try await keeper.answer(id, answer)
            tellEnd(id)
            // A snoozed ring is played again.
            played.removeAll { $0 == id }
            if edit != nil { changed(.reminders) }
            wake()
            return edit
        } catch {
            // The page that answers sees the state now.
            wake()
            throw error
        }
    }

    /// Forgets the alarms that did not ring one by one.
    func clearMissed() {
        missed = 0
        desktop?.withdraw("missed")
        log.add("rings-missed", MissedRings(missed: 0))
    }
}

/// The routes of rings.
struct RingRoutes {
    let desk: RingDesk

    var all: [NativeRoute] {
        [
            .plain("GET", "/rings", "The rings that wait for an answer") { [desk] _ in await desk.list() },
            .json(
                "POST", "/rings/{id}", "Answer a ring: done completes a reminder", example: #"{"answer": "done"}"#
            ) { [desk] (call, order: RingOrder) in
                RingReply(action: try await desk.answer(call.value("id"), order.value)?.action)
            },
            .plain("POST", "/rings/{id}/play", "Ask whether no page has played a ring yet") { [desk] call in
                RingPlay(isFirst: await desk.play(call.value("id")))
            },
            .plain("DELETE", "/rings", "Forget the alarms that did not ring one by one") { [desk] _ in
                await desk.clearMissed()
                return EmptyBody()
            },
        ]
    }
}
