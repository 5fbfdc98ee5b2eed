import HearthBase

/// An address with a one-time code, by which a browser of another machine is signed in.
package struct PageInvitation: Sendable, Hashable {
    /// The beginning of the page's addresses, such as `http://192.168.1.5:4327`.
    package let address: String
    package let code: String
    /// The other addresses of this machine, in the same form.
    package let others: [String]
    /// Whether this machine has a network; without one, ``address`` works on this machine alone.
    package let hasNetwork: Bool
    /// Whether the machine has IPv6 addresses alone.
    package let isIPv6Only: Bool
    /// Whether texts travel encrypted.
    package let isEncrypted: Bool

    /// The address that signs in, once.
    package var url: String { address + BrowserSessions.path(with: code) }

    /// The address that signs in, as a QR code.
    package var picture: QRCode? { QRCode(url) }
}

/// The sockets of a server that other machines reach.
package struct NetworkPlace: Sendable, Hashable {
    let port: UInt16
    let usesTLS: Bool
    /// The name in the certificate, if the settings tell; browsers compare it with the address.
    let name: String?
    /// The only address that the server listens at; `nil` for all.
    let host: String?

    /// - Parameter names: the setting `serve.hosts`.
    /// - Returns: `nil` if only this machine reaches the sockets.
    init?(_ addresses: [ListeningAddress], usesTLS: Bool, names: [String]) {
        guard let address = addresses.first(where: { !$0.isLoopback }) else { return nil }
        port = address.port
        self.usesTLS = usesTLS
        name = usesTLS ? names.first : nil
        host = ["0.0.0.0", "::"].contains(address.host) ? nil : address.host
    }

    /// The invitation with a code.
    func invitation(_ code: String, _ network: NetworkAddresses) -> PageInvitation {
        let first = name ?? host ?? network.first
        return PageInvitation(
            address: address(first ?? "127.0.0.1"), code: code,
            others: name == nil && host == nil ? network.others.map(address) : [], hasNetwork: first != nil,
            isIPv6Only: name == nil && host == nil && network.isIPv6Only, isEncrypted: usesTLS)
    }

    private func address(_ host: String) -> String {
        let url = ListeningAddress(host: host, port: port).url
        return usesTLS ? "https" + url.dropFirst("http".count) : url
    }
}
