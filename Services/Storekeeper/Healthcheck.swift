import ArgumentParser
import AsyncHTTPClient
import Commands
import Foundation
import HTTPLimits

/// `storekeeper healthcheck`: for containers without a shell or curl.
struct Healthcheck: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "healthcheck", abstract: "Check a service's health endpoint.",
        discussion: """
            Prints the response body. Exit codes: 0 the status is 200 to 299; 1 any other status, or no response.

            Example: storekeeper healthcheck http://127.0.0.1:9101/readyz
            """)

    @Argument(help: "URL of the endpoint, such as http://127.0.0.1:9101/readyz.")
    var url: String

    @Option(help: "Timeout in seconds.")
    var timeout = Seconds(3)

    func validate() throws {
        let address = URL(string: url)
        guard let scheme = address?.scheme, ["http", "https"].contains(scheme), address?.host?.isEmpty == false,
            address?.hasUsablePort == true
        else {
            throw ValidationError("\(url.escaped) is not a URL such as http://127.0.0.1:9101/readyz")
        }
    }

    func run(in context: CommandContext) async throws {
        let page: HTTPPage
        do {
            page = try await HTTPPage(at: url, within: timeout.duration)
        } catch {
            throw CommandError("\(url) does not answer: \(Self.words(of: error, within: timeout))")
        }
        context.print(page.text.split(separator: "\n").map { String($0).escaped }.joined(separator: "\n"))
        if !(200...299).contains(page.status) { throw Exit.failed.code }
    }

    /// The networking library's descriptions address its authors.
    private static func words(of error: any Error, within timeout: Seconds) -> String {
        switch error {
        case let error as HTTPClientError
        where [HTTPClientError.deadlineExceeded, .connectTimeout, .readTimeout].contains(error):
            "no response within \(timeout.duration.seconds) s"
        default: "\(error)"
        }
    }
}
