#if canImport(CGio)
import CGio
import Foundation
import HearthBase

/// Notifications of the session's desktop over D-Bus: `org.freedesktop.Notifications`, version 1.2 of its specification.
///
/// A thread of its own makes all calls, from the first ring until ``close()``. A ring is dropped if no program owns the name:
/// none is started for it.
package final class BusDesktop: RingDesktop {
    package let answers: AsyncStream<DesktopAnswer>
    private let caller: BusCaller
    private let hasStarted = Locked(false)

    /// A desktop on the session's bus; `nil` if the environment names none.
    package convenience init?(environment: [String: String]) {
        if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty {
            self.init(address: address)
        } else if let folder = environment["XDG_RUNTIME_DIR"], !folder.isEmpty,
            FileManager.default.fileExists(atPath: folder + "/bus")
        {
            self.init(address: "unix:path=\(folder)/bus")
        } else {
            return nil
        }
    }

    /// - Parameter address: of a bus, such as `unix:path=/run/user/1000/bus`.
    package init(address: String) {
        let (stream, continuation) = AsyncStream<DesktopAnswer>.makeStream(bufferingPolicy: .bufferingNewest(64))
        answers = stream
        caller = BusCaller(address: address, answers: continuation)
    }

    deinit { caller.end() }

    package func show(_ note: DesktopNote) {
        start()
        caller.add(.show(note))
    }

    package func withdraw(_ id: String) { caller.add(.withdraw(id)) }

    package func close() { caller.end() }

    private func start() {
        let isFirst = hasStarted.withLock { hasStarted in
            defer { hasStarted = true }
            return !hasStarted
        }
        guard isFirst else { return }
        let caller = caller
        Thread {
            ThreadName.current = "hearth.desktop"
            caller.run()
        }.start()
    }
}

/// Owns all D-Bus objects on its thread. It reads signals after every turn of the main loop, so no Swift callback is needed.
private final class BusCaller: @unchecked Sendable {
    enum Order: Sendable {
        case show(DesktopNote)
        case withdraw(String)
    }

    private struct Mailbox {
        var orders: [Order] = []
        var isEnding = false
    }

    /// The most rings that wait for the bus; a bus that hangs loses older ones.
    private static let limit = 64

    private let address: String
    private let answers: AsyncStream<DesktopAnswer>.Continuation
    private let mailbox = Locked(Mailbox())
    // Any thread may wake the context or cancel; all other calls stay in `run()`.
    private let context: OpaquePointer
    private let cancellable: UnsafeMutablePointer<GCancellable>
    private let signals: OpaquePointer
    private var bus: OpaquePointer?
    /// The ids of rings by the numbers of their notifications.
    private var shown: [UInt32: String] = [:]

    init(address: String, answers: AsyncStream<DesktopAnswer>.Continuation) {
        self.address = address
        self.answers = answers
        context = g_main_context_new()
        cancellable = g_cancellable_new()
        signals = hearth_notices_queue()
    }

    deinit {
        g_async_queue_unref(signals)
        g_main_context_unref(context)
        g_object_unref(cancellable)
    }

    func add(_ order: Order) {
        mailbox.withLock { mailbox in
            mailbox.orders.append(order)
            if mailbox.orders.count > Self.limit { mailbox.orders.removeFirst() }
        }
        g_main_context_wakeup(context)
    }

    func end() {
        mailbox.withLock { $0.isEnding = true }
        answers.finish()
        g_cancellable_cancel(cancellable)
        g_main_context_wakeup(context)
    }

    /// Carries out orders and passes answers on until ``end()``. Blocks.
    func run() {
        // Objects created after this deliver their signals to this context, and so to this thread.
        g_main_context_push_thread_default(context)
        defer {
            if let bus { hearth_notices_disconnect(bus) }
            bus = nil
            g_main_context_pop_thread_default(context)
        }
        while true {
            let (orders, isEnding) = mailbox.withLock { mailbox in
                defer { mailbox.orders = [] }
                return (mailbox.orders, mailbox.isEnding)
            }
            if isEnding { return }
            for order in orders { carryOut(order) }
            readSignals()
            if mailbox.withLock({ $0.orders.isEmpty && !$0.isEnding }) { g_main_context_iteration(context, 1) }
        }
    }

    private func carryOut(_ order: Order) {
        switch order {
        case .show(let note): show(note)
        case .withdraw(let id):
            guard let bus, let number = shown.first(where: { $0.value == id })?.key else { return }
            shown[number] = nil
            hearth_notices_close(bus, number, cancellable)
        }
    }

    private func show(_ note: DesktopNote) {
        guard let bus = connected(), hearth_notices_has_owner(bus, cancellable) != 0 else { return }
        let abilities = hearth_notices_abilities(bus, cancellable)
        // Servers with markup read `<` and `&`; a text has no markup.
        let body = abilities & UInt32(HEARTH_NOTICES_MARKUP.rawValue) == 0 ? note.body : Self.escaped(note.body)
        let actions =
            abilities & UInt32(HEARTH_NOTICES_ACTIONS.rawValue) == 0
            ? [] : note.actions.flatMap { [$0.name, $0.label] }
        let before = shown.first { $0.value == note.id }?.key ?? 0
        var texts: [UnsafePointer<CChar>?] = actions.map { UnsafePointer(strdup($0)) } + [nil]
        defer { for text in texts { free(UnsafeMutablePointer(mutating: text)) } }
        let number = texts.withUnsafeMutableBufferPointer {
            hearth_notices_show(bus, before, note.title, body, $0.baseAddress, cancellable)
        }
        guard number != 0 else {
            Log.write(.warning, "desktop", "a notification was not accepted")
            return
        }
        if before != 0, before != number { shown[before] = nil }
        shown[number] = note.id
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }

    private func connected() -> OpaquePointer? {
        if let bus {
            if hearth_notices_is_open(bus) != 0 { return bus }
            hearth_notices_disconnect(bus)
            shown = [:]
        }
        bus = hearth_notices_connect(address, signals, cancellable)
        if bus == nil { Log.write(.info, "desktop", "the session's bus cannot be used") }
        return bus
    }

    private func readSignals() {
        var number: UInt32 = 0
        var name = [CChar](repeating: 0, count: 64)
        while hearth_notices_next(signals, &number, &name, UInt(name.count)) != 0 {
            guard let id = shown[number] else { continue }
            let text = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            // Without a name the notification has gone; the page shows the ring still.
            guard let answer = RingAnswer(name: text) else {
                if text.isEmpty { shown[number] = nil }
                continue
            }
            answers.yield(DesktopAnswer(id: id, answer: answer))
        }
    }
}
#endif
