import ArgumentParser
import Foundation
import Testing

@testable import SimulatedAppStore

/// Apple's clock and the receiver's differ by a few seconds.
@Suite struct ClockSkewTests {
    private static let clock = Date(milliseconds: 1_790_000_000_000)

    @Test(arguments: [-5.0, 0, 5])
    func `Simulated present differs from the clock by the skew`(skew: Double) throws {
        let options = try RunOptions.parse(["--clock-skew=\(skew)"])
        #expect(options.present(on: { Self.clock })() == Self.clock + skew)
    }

    @Test func `Present that is given does not follow the clock`() throws {
        let options = try RunOptions.parse(["--now", "1700000000000", "--clock-skew", "5"])
        #expect(options.present(on: { Self.clock })() == Date(milliseconds: 1_700_000_000_000))
    }

    @Test func `Notification of now is signed by Apple's clock, ahead of the receiver's`() throws {
        let options = try RunOptions.parse(["--clock-skew", "5"])
        let present = options.present(on: { Self.clock })()
        let verifier = try NotificationSignerTests.verifier()
        var sample = SampleHistory(of: PopulationTests.apps[0], seed: 1, now: present + 1)
        let event = sample.test()
        let proven = try verifier.notification(
            try NotificationSignerTests.signer().sign(event), now: Self.clock
        ).get()
        #expect(proven.signedDate == Self.clock + 5)
    }
}
