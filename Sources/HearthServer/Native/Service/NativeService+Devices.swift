import Foundation
import HearthBase

/// A browser that is signed in.
struct DeviceBody: Codable, Sendable, Hashable {
    var id: String
    /// The browser's name for itself, as it sent it.
    var agent: String
    var created: Date?
    var seen: Date
    /// Whether it is the browser that asks.
    var isThis: Bool
}

/// How other machines reach the page.
struct ReachBody: Codable, Sendable, Hashable {
    /// The address of the default route; absent without a network.
    var address: String?
    var others: [String]
    var isEncrypted: Bool
}

struct DevicesBody: Codable, Sendable, Hashable {
    var devices: [DeviceBody]
    /// Absent if only this machine reaches the page.
    var reach: ReachBody?
    var event: String
}

/// A one-time code with the address for another device.
struct InvitationBody: Codable, Sendable, Hashable {
    var address: String
    var code: String
    /// The address with the code.
    var url: String
    var others: [String]
    var hasNetwork: Bool
    var isEncrypted: Bool
    /// The seconds that the code works.
    var seconds: Int
    /// ``url`` as a QR code: rows of `1` for dark and `0` for light squares.
    var qr: [String]
}

extension NativeService {
    /// The browsers that are signed in, and codes for others.
    static func deviceRoutes(_ service: NativeService) -> [NativeRoute] {
        [
            .plain("GET", "/devices", "The browsers that are signed in, and how others reach the page") { call in
                let event = service.log.lastID
                let sessions = service.home.sessions
                let own = sessions.id(of: call.request)
                return DevicesBody(
                    devices: sessions.devices.map { device in
                        DeviceBody(
                            id: device.id, agent: device.agent, created: device.created, seen: device.seen,
                            isThis: device.id == own)
                    }, reach: await service.reach(), event: event)
            },
            .plain("POST", "/devices/code", "Make a code that signs another browser in, once", status: 201) { _ in
                guard let made = await service.home.invite(.displayed) else {
                    throw NativeFailure(
                        409, "not-on-network", "only this machine reaches the page",
                        remedy: "Let the server listen on the network.")
                }
                return InvitationBody(made)
            },
            .plain("DELETE", "/devices/{id}", "Sign a browser out at once") { call in
                guard await service.home.sessions.signOut(call.value("id")) else {
                    throw NativeFailure(404, "unknown-device", "no browser with this id is signed in")
                }
                // Wakes the streams of events: that of the browser ends.
                service.log.add("devices", EmptyBody())
                return EmptyBody()
            },
        ]
    }

    private func reach() async -> ReachBody? {
        guard let place = home.networkPlace else { return nil }
        let network = await blocking { NetworkAddresses.current() }
        let made = place.invitation("", network)
        return ReachBody(
            address: made.hasNetwork ? made.address : nil, others: made.others, isEncrypted: made.isEncrypted)
    }
}

extension InvitationBody {
    fileprivate init(_ made: PageInvitation) {
        self.init(
            address: made.address, code: made.code, url: made.url, others: made.others, hasNetwork: made.hasNetwork,
            isEncrypted: made.isEncrypted, seconds: Int(OneTimeCodes.lifetime(.displayed).seconds),
            qr: (made.picture?.rows ?? []).map { row in String(row.map { $0 ? "1" : "0" }) })
    }
}
