import ArgumentParser
import AsyncHTTPClient
import Foundation

/// `storekeeper healthcheck`: for containers, which have no shell and no curl.
struct Healthcheck: Verb {
    static let configuration = CommandConfiguration(
        commandName: "healthcheck", abstract: "Ask a service whether it is well.",
        discussion: "Prints what the service answers. Exits 0 if the status is 200 to 299, else 1.")

    @Argument(help: "For example http://127.0.0.1:9101/readyz")
    var url: String

    @Option(help: "Seconds to wait for the answer.")
    var timeout = Seconds(3)

    func validate() throws {
        let address = URL(string: url)
        guard let scheme = address?.scheme, ["http", "https"].contains(scheme), address?.host?.isEmpty == false else {
            throw ValidationError("\(url.visible) is no address such as http://127.0.0.1:9101/readyz")
        }
    }

    func run(in surroundings: Surroundings) async throws {
        let page: Page
        do {
            page = try await Page(at: url, within: timeout.duration)
        } catch {
            throw Failure("\(url) does not answer: \(Self.words(of: error, within: timeout))")
        }
        surroundings.print(page.text.split(separator: "\n").map { String($0).visible }.joined(separator: "\n"))
        if !(200...299).contains(page.status) { throw Exit.failed.code }
    }

    /// The networking library's own words are for its authors.
    private static func words(of error: any Error, within timeout: Seconds) -> String {
        switch error {
        case let error as HTTPClientError
        where [HTTPClientError.deadlineExceeded, .connectTimeout, .readTimeout].contains(error):
            "nothing came within \(timeout.duration.seconds) s"
        default: "\(error)"
        }
    }
}
