import ArgumentParser
import Foundation
import StrictJSON

/// `simulator export`: writes the file of another system.
struct ExportCommand: SimulatorWork {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write another system's export of the customers.",
        discussion: """
            A move to Storekeeper begins with such a file. By default it says of each customer's access what Apple says. With \
            --differences it is wrong about so many customers for each cause that storekeeper compare knows, who buy for that. FILE.json \
            and the output say in how many entitlements it differs for each cause, and when the file was taken, which is when FILE was \
            last changed. Adapty's has no access by hand; an export of the sandbox has no purchases of another environment. Where \
            nothing that is sold fits, a cause is left out.

            Each product is the entitlement of its name. A customer's id is the appAccountToken where the purchase has one. The simulator \
            answers as the system's API, too, from then on: below /other-system/revenuecat or /other-system/adapty of its address.

            Examples:
              simulator export export.csv.gz --environment Production
              simulator export events.csv --shape adapty --environment Production --differences 3

            Exit codes: 0 written, and the receiver accepted the notifications; 1 not; 64 invalid command line.
            """)

    @Argument(help: "File to write; compressed where its name ends in .gz.")
    var file: String

    @Option(help: "\(ExportShape.allCases.map(\.rawValue).joined(separator: " or ")).")
    var shape = ExportShape.revenueCat.rawValue

    @Option(help: "Bundle id of the app (default: the first that is simulated).")
    var app: String?

    @Option(help: "Production or Sandbox (default: the sandbox, where the app is in it).")
    var environment: String?

    @Option(help: "Customers about whom the file is wrong, for each cause.")
    var differences = 0

    @OptionGroup var options: ClientOptions

    func validate() throws {
        if ExportShape(rawValue: shape) == nil {
            throw ValidationError("--shape must be \(ExportShape.allCases.map(\.rawValue).joined(separator: " or "))")
        }
        if differences < 0 { throw ValidationError("--differences must be 0 or more") }
        if let environment { try SigningOptions.validate(environments: [environment]) }
    }

    func run(in context: CommandContext) async throws {
        let client = try options.client(in: context)
        let body = APIAnswer { json in
            json.member("shape", shape)
            json.member("bundleId", app)
            json.member("environment", environment)
            json.member("differences", differences)
        }.body
        let answer = try await client.ask("POST", "exports", body).root
        try await ClockAdvance.waitUntilSent(client)
        var summary = JSONWriter(capacity: 1_024)
        summary.beginObject()
        for (name, value) in answer.members where name != "text" { summary.member(name, raw: value.rawBytes) }
        summary.endObject()
        try write(Data((answer["text"]?.string ?? "").utf8))
        let takenAt = Date(milliseconds: answer["takenAt"]?.int64 ?? 0)
        try FileManager.default.setAttributes([.modificationDate: takenAt], ofItemAtPath: file)
        do {
            try Data(summary.bytes + [UInt8(ascii: "\n")]).write(to: URL(fileURLWithPath: file + ".json"))
        } catch {
            throw SimulatorError("\(file).json cannot be written: \(error.localizedDescription)")
        }
        print(options.json ? String(decoding: summary.bytes, as: UTF8.self) : Self.sentence(answer, file))
    }

    private static func sentence(_ root: JSONValue, _ file: String) -> String {
        func count(_ name: String) -> Int64 { root[name]?.int64 ?? 0 }
        let causes = (root["differences"]?.members ?? []).map { "\($0.value.int64 ?? 0) \($0.key)" }
        return
            "\(file): \(count("records")) records of \(count("customers")) customers, \(count("purchases")) purchases"
            + (causes.isEmpty ? "" : "\nDifferences: \(causes.joined(separator: ", "))")
    }

    private func write(_ data: Data) throws {
        guard file.hasSuffix(".gz") else {
            do { try data.write(to: URL(fileURLWithPath: file)) } catch {
                throw SimulatorError("\(file) cannot be written: \(error.localizedDescription)")
            }
            return
        }
        let quoted = "'" + file.replacing("'", with: #"'\''"#) + "'"
        guard let input = popen("exec gzip --no-name --stdout > \(quoted)", "we") else {
            throw SimulatorError("\(file) cannot be written: gzip does not start")
        }
        let written = data.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, input) }
        guard pclose(input) == 0, written == data.count else {
            throw SimulatorError("\(file) cannot be written: is there the directory, room, and the program gzip?")
        }
    }
}
