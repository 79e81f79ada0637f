import AppStore
import ArgumentParser
import Commands
import Foundation
import Operations
import Signatures

/// `storekeeper verify`: verifies a signed payload and prints its contents, or the reason for its rejection.
struct Verify: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Verify and decode a signed payload.",
        discussion: """
            Accepts a JWS, a file that contains one, a request body {"signedPayload": "…"}, or - for standard input. \
            Works offline and without configuration. STOREKEEPER_ROOT_FILES, where it is set, adds roots as --root does, also to \
            those that Storekeeper trusts by itself. Exit codes: 0 verified; 1 rejected; 64 invalid command line.

            Examples:
              storekeeper verify body.json --bundle-id com.example.app --app-apple-id 1234567890
              storekeeper dead-letters show 3/17 --original | storekeeper verify -
            """)

    @Argument(help: "Signed payload, file, or - for standard input.")
    var input: String

    @Option(help: "Kind of payload (default: detected).")
    var kind: Proof.Kind?

    @Option(name: .customLong("root"), help: "Additional trusted root, DER or PEM file; repeatable.")
    var roots: [String] = []

    @Option(help: "Expected bundle id (default: any; the app is not checked).")
    var bundleId: String?

    @Option(help: "Expected appAppleId (default: any).")
    var appAppleId: Int64?

    @Option(help: "Expected environment (default: any).")
    var environment: String?

    @Option(help: "Verification time: \(TimeArgument.help) (default: now).")
    var at: TimeArgument?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if bundleId == nil, appAppleId != nil { throw ValidationError("--app-apple-id needs --bundle-id") }
        if let environment, !AppStoreEnvironment(rawValue: environment).isKnown {
            let known = AppStoreEnvironment.known.map(\.rawValue).sorted().joined(separator: ", ")
            throw ValidationError("--environment \(environment.escaped) is not one of \(known)")
        }
    }

    func run(in context: CommandContext) async throws {
        var trust = TrustStore.apple
        let configured = (context.environment["STOREKEEPER_ROOT_FILES"] ?? "").split(separator: ",")
            .map { ("STOREKEEPER_ROOT_FILES", $0.trimmingCharacters(in: .whitespaces)) }.filter { !$0.1.isEmpty }
        for (source, root) in configured + roots.map({ ("--root", $0) }) {
            do {
                trust = try trust.adding(rootsIn: Self.bytes(ofFile: root))
            } catch let fault as CertificateFault {
                throw ValidationError("\(source) \(root): \(fault)")
            }
        }
        let identity = Proof.Identity(
            bundleId: bundleId, appAppleId: appAppleId,
            environment: environment.map { AppStoreEnvironment(rawValue: $0) })
        let proof = Proof(
            of: try SignedInput(Self.content(of: input)).jws, kind: kind, trust: trust, identity: identity,
            now: at?.date(now: context.now()) ?? context.now())
        context.print(json ? proof.json : proof.text)
        if proof.rejection != nil { throw Exit.failed.code }
    }

    private static func content(of input: String) throws -> [UInt8] {
        if input == "-" { return Array(try FileHandle.standardInput.readToEnd() ?? Data()) }
        // A JWS has two dots; a file with such a name is given as ./a.b.c
        if !FileManager.default.fileExists(atPath: input), CompactJWS(Array(input.utf8)[...]) != nil {
            return Array(input.utf8)
        }
        return try bytes(ofFile: input)
    }

    private static func bytes(ofFile path: String) throws -> [UInt8] {
        do {
            return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw ValidationError("\(path.prefix(200)) is neither a readable file nor a signed payload")
        }
    }
}

extension Proof.Kind: ExpressibleByArgument {}
