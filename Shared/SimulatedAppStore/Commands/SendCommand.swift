import ArgumentParser
import Foundation

/// `simulator send`: posts the content of a file once.
struct SendCommand: SimulatorWork {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Post one request body or signed payload.",
        discussion: """
            Posts a file that begins with { unchanged; wraps anything else as a signed payload in {"signedPayload": …}. \
            Prints the HTTP status and does not retry. Exit codes: 0 status 200 to 206, 1 any other.

            Example: simulator send body.json --target http://127.0.0.1:8080/v1/notifications
            """)

    @Argument(help: "File, or - for standard input.")
    var file: String

    @Option(help: "URL that receives notifications, e.g. http://127.0.0.1:8080/v1/notifications")
    var target: String

    @Option(help: "Timeout of the attempt, seconds.")
    var timeout = 5.0

    func validate() throws {
        try Target.validate(target, as: "--target")
        if timeout <= 0 { throw ValidationError("--timeout must be above 0") }
    }

    func run(in context: CommandContext) async throws {
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
            throw SimulatorError("\(file) cannot be read: give a readable file, or - for standard input (\(error))")
        }
    }
}
