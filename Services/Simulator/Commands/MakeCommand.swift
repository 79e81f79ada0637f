import ArgumentParser
import Foundation

/// `simulator make`: one signed notification of a kind, for tests and for reading.
struct MakeCommand: SimulatorWork {
    static let configuration = CommandConfiguration(
        commandName: "make", abstract: "Print one signed notification.",
        discussion: "Prints the request body as Apple posts it, ready for `simulator send -` or curl.")

    @Option(
        name: .customLong("case"), help: "What kind: \(SampleCase.allCases.map(\.rawValue).joined(separator: ", ")).")
    var sampleCase: SampleCase

    @Flag(help: "Print the signed payload alone instead of the request body.")
    var bare = false

    @Option(help: "Another seed is another customer.")
    var seed: UInt64 = 1

    @OptionGroup(title: "The signatures")
    var signing: SigningOptions

    func run(in surroundings: Surroundings) async throws {
        let now = surroundings.now()
        guard let app = signing.apps.first else { throw ValidationError("--app is missing") }
        let jws = try sampleCase.signed(by: try signing.notificationSigner(now: now), for: app, seed: seed, now: now)
        let text = bare ? jws : NotificationSigner.body(signedPayload: jws)
        print(String(decoding: text, as: UTF8.self))
    }
}

extension SampleCase: ExpressibleByArgument {}
