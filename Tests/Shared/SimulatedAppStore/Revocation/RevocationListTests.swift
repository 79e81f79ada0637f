import Foundation
import Signatures
import Testing

@testable import SimulatedAppStore

@Suite struct RevocationListTests {
    private static let now = Date(timeIntervalSince1970: 1_780_000_000)

    private func list(_ text: String) -> RevocationList {
        RevocationList(text, names: ["leaf": "4A", "intermediate": "4B"], now: Self.now)
    }

    @Test func `Revocation list names certificates by role or serial number, with or without a date`() {
        let list = list("# stolen\nleaf 1779000000000 # laptop\n\n  4c\t\r\n")
        #expect(list.standing(of: "4A") == .revoked(Date(timeIntervalSince1970: 1_779_000_000), reason: "unspecified"))
        #expect(list.standing(of: "4C") == .revoked(Self.now, reason: "unspecified"))
        #expect(list.standing(of: "4B") == .good)
    }

    @Test func `Revocation list may have the line ends of Windows`() {
        let list = list("leaf\r\nintermediate\r\n")
        #expect(list.standing(of: "4A") == .revoked(Self.now, reason: "unspecified"))
        #expect(list.standing(of: "4B") == .revoked(Self.now, reason: "unspecified"))
    }

    @Test func `Empty revocation list revokes nothing`() {
        #expect(list("").standing(of: "4A") == .good)
        #expect(list("#leaf\n#\n").standing(of: "4A") == .good)
    }
}
