import ArgumentParser
import Foundation

/// `simulator send`: one request with whatever stands in a file.
struct SendCommand: SimulatorWork {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Post one file as it is, or one signed payload.",
        discussion: """
            A file that begins with { is posted as it is; anything else is taken for a signed payload and wrapped in \
            {"signedPayload": …}. Prints the HTTP status. Exits 0 if it was 200 to 206, else 1. Nothing is retried.
            """)

    @Argument(help: "File, or - for standard input.")
    var file: String

    @Option(help: "Where to post, e.g. http://127.0.0.1:8080/v1/notifications")
    var target: String

    @Option(help: "Seconds until the attempt counts as timed out.")
    var timeout = 5.0

    func validate() throws {
        try Target.validate(target, as: "--target")
        if timeout <= 0 { throw ValidationError("--timeout must be above 0") }
    }

    func run(in surroundings: Surroundings) async throws {
        var content = try Self.content(of: file)
        while let last = content.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") {
            content.removeLast()
        }
        let body = content.first == UInt8(ascii: "{") ? content : NotificationSigner.body(signedPayload: content)
        let client = Target.client(concurrency: 1)
        let answer = await Target(client: client, url: target, timeout: .seconds(timeout)).post(body)
        try await client.shutdown()
        print(answer.status.map(String.init) ?? answer.failure ?? "no answer")
        if !answer.isAccepted { throw ExitCode.failure }
    }

    private static func content(of file: String) throws -> [UInt8] {
        if file == "-" { return Array(try FileHandle.standardInput.readToEnd() ?? Data()) }
        do {
            return Array(try Data(contentsOf: URL(fileURLWithPath: file)))
        } catch {
            throw Failure("\(file) cannot be read: give a readable file, or - for standard input (\(error))")
        }
    }
}
