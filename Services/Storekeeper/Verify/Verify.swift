import AppStore
import ArgumentParser
import Foundation
import Signatures

/// `storekeeper verify`: what a signed payload proves, or the one reason why it proves nothing.
struct Verify: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Decode and prove a signed payload.",
        discussion: """
            Takes a signed payload (JWS), a file that holds one, a whole request body {"signedPayload": "…"}, or - for \
            standard input. Needs no configuration and no network. Exit codes: 0 proven; 1 refused; 64 the command \
            line is wrong.
            """)

    @Argument(help: "The signed payload itself, a file, or - for standard input.")
    var input: String

    @Option(help: "What it is: \(Proof.Kind.allCases.map(\.rawValue).joined(separator: ", ")). Default: guessed.")
    var kind: Proof.Kind?

    @Option(name: .customLong("root"), help: "File of a further trusted root, DER or PEM; repeat for several.")
    var roots: [String] = []

    @Option(help: "The bundle id it must be for. Default: any; then the identity is not checked.")
    var bundleId: String?

    @Option(help: "Apple's number of the app it must be for. Default: any.")
    var appAppleId: Int64?

    @Option(help: "The environment it must be from. Default: any.")
    var environment: String?

    @Option(help: "The time to judge at, \(TimeArgument.help). Default: now.")
    var at: TimeArgument?

    @Flag(help: "Print a JSON object.")
    var json = false

    func validate() throws {
        if bundleId == nil, appAppleId != nil { throw ValidationError("--app-apple-id needs --bundle-id") }
        if let environment, !AppStoreEnvironment(rawValue: environment).isKnown {
            let known = AppStoreEnvironment.known.map(\.rawValue).sorted().joined(separator: ", ")
            throw ValidationError("--environment is one of \(known), not \(environment)")
        }
    }

    func run(in context: CommandContext) async throws {
        var trust = TrustStore.apple
        for root in roots {
            do {
                trust = try trust.adding(rootsIn: Self.bytes(ofFile: root))
            } catch let fault as CertificateFault {
                throw ValidationError("--root \(root): \(fault)")
            }
        }
        let identity = Proof.Identity(
            bundleId: bundleId, appAppleId: appAppleId,
            environment: environment.map { AppStoreEnvironment(rawValue: $0) })
        let proof = Proof(
            of: try SignedInput(Self.content(of: input)).jws, kind: kind, trust: trust, identity: identity,
            now: at?.date(now: context.now()) ?? context.now())
        context.print(json ? proof.json : proof.text)
        if proof.refusal != nil { throw Exit.failed.code }
    }

    private static func content(of input: String) throws -> [UInt8] {
        if input == "-" { return Array(try FileHandle.standardInput.readToEnd() ?? Data()) }
        // A name of a file has no two dots and is shorter; whoever has such a file says ./a.b.c
        if !FileManager.default.fileExists(atPath: input), CompactJWS(Array(input.utf8)[...]) != nil {
            return Array(input.utf8)
        }
        return try bytes(ofFile: input)
    }

    private static func bytes(ofFile path: String) throws -> [UInt8] {
        do {
            return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw ValidationError("\(path.prefix(200)) cannot be read, and is not a signed payload either")
        }
    }
}

extension Proof.Kind: ExpressibleByArgument {}
