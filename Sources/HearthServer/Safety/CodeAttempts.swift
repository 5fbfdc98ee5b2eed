import HearthBase

/// Bounds the wrong codes of each caller and of all together, so that no code is found by trying.
///
/// With 40 bits in a code, 64 codes at once and the bound of all callers, an hour of trying finds one with a probability of
/// 1 in 470,000.
package struct CodeAttempts: Sendable {
    private struct Account {
        var allowance: Double
        var updated: Duration
    }

    /// The wrong codes that may come together, and in a minute on average: of one caller, and of all.
    private static let (own, all) = ((burst: 10.0, perMinute: 10.0), (burst: 100.0, perMinute: 600.0))
    /// The most callers remembered.
    private static let accountLimit = 1024

    private var accounts: [String: Account] = [:]
    private var total = Account(allowance: all.burst, updated: .zero)

    package init() {}

    /// The seconds until a caller may send another code; `nil` if it may now.
    package mutating func wait(_ caller: String, at now: Duration) -> Int? {
        let account = Self.filled(accounts[caller], Self.own, at: now)
        total = Self.filled(total, Self.all, at: now)
        if account.allowance < 1 { return Self.seconds(account, Self.own) }
        return total.allowance < 1 ? Self.seconds(total, Self.all) : nil
    }

    /// Counts a wrong code.
    package mutating func failed(_ caller: String, at now: Duration) {
        var account = Self.filled(accounts[caller], Self.own, at: now)
        account.allowance -= 1
        // Those whose allowance has grown back are no different from unknown callers.
        if accounts.count >= Self.accountLimit {
            accounts = accounts.filter { Self.filled($0.value, Self.own, at: now).allowance < Self.own.burst }
        }
        if accounts.count >= Self.accountLimit { accounts = [:] }
        accounts[caller] = account
        total = Self.filled(total, Self.all, at: now)
        total.allowance -= 1
    }

    private static func filled(
        _ account: Account?, _ bounds: (burst: Double, perMinute: Double), at now: Duration
    ) -> Account {
        guard var account else { return Account(allowance: bounds.burst, updated: now) }
        let time = max(0, (now - account.updated).seconds)
        account.allowance = min(bounds.burst, account.allowance + time * bounds.perMinute / 60)
        // After a clock was set back, the allowance grows from then on, and the owner need not wait for the old time.
        account.updated = now
        return account
    }

    private static func seconds(_ account: Account, _ bounds: (burst: Double, perMinute: Double)) -> Int {
        max(1, Int(((1 - account.allowance) * 60 / bounds.perMinute).rounded(.up)))
    }
}
