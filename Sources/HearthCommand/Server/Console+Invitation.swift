import HearthBase
import HearthServer

extension Console {
    /// Prints the address with a code, what it leaves open, and at a terminal the QR code.
    func show(_ invitation: PageInvitation) {
        // The server goes on without a reader of its address.
        try? showAddress(invitation.url, invitation.picture)
        if !invitation.hasNetwork {
            say("This machine has no network: only browsers on it can open the address.")
        }
        if !invitation.others.isEmpty {
            say("This machine has several addresses: \(invitation.others.joined(separator: ", ")) may lead here too.")
        }
        if invitation.isIPv6Only { say("This machine has IPv6 addresses only: the phone needs IPv6 too.") }
        if !invitation.isEncrypted {
            say("Without a certificate, others in this network can read along. The code \(invitation.code) works once.")
        }
    }

    /// Prints an address in one line, and at a terminal as a QR code of half blocks.
    func showAddress(_ url: String, _ picture: QRCode?) throws {
        try print(url)
        guard output.isTerminal, let picture else { return }
        for line in picture.halfBlocks(hasColor: canDim) { try write(line + "\n") }
    }
}
