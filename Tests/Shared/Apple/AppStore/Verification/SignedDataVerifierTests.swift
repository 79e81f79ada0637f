import AppStore
import Foundation
import Signatures
import StrictJSON
import Testing

@testable import AppStoreSamples

@Suite struct SignedDataVerifierTests {
    private static let now = Date(timeIntervalSince1970: 1_780_000_000)
    /// Created once: its two hundred certificates take longer than all the checks.
    private static let corpus = Result { try ForgeryCorpus(now: now) }

    @Test func `Verifier rejects every forgery for its reason and accepts everything genuine, cold and warm`() throws {
        let corpus = try Self.corpus.get()
        let warm = try corpus.material.verifier()
        for round in ["cold", "warm"] {
            for item in corpus.all {
                let rejection = item.rejection(by: warm, now: Self.now)
                #expect(
                    rejection?.reason == item.expected, "\(item.name), \(round): \(rejection?.description ?? "passed")")
                #expect((rejection?.message.utf8.count ?? 0) <= VerificationFailure.maximumMessageBytes)
            }
        }
        #expect(corpus.forgeries.count >= 200)
    }

    @Test func `Verifier answers independently of what came before`() throws {
        let corpus = try Self.corpus.get()
        for item in corpus.all {
            let rejection = item.rejection(by: try corpus.material.verifier(), now: Self.now)
            #expect(rejection?.reason == item.expected, "\(item.name): \(rejection?.description ?? "passed")")
        }
    }

    @Test func `Verifier returns the identity and the decoded JSON, byte for byte`() throws {
        let material = try ForgeryMaterial(now: Self.now)
        let transaction = material.transaction()
        let renewal = material.renewal()
        let envelope = try material.envelope(transaction, renewal)
        let jws = try material.signed(envelope)
        let proven = try material.verifier().notification(jws, now: Self.now).get()
        #expect(proven.notificationUUID.uuidString.lowercased() == envelope.notificationUUID)
        #expect(proven.notificationType == "DID_RENEW")
        #expect(proven.subtype == nil)
        #expect(proven.environment == .production)
        #expect(proven.bundleId == ForgeryMaterial.bundleId)
        #expect(proven.appAppleId == ForgeryMaterial.appAppleId)
        #expect(proven.originalTransactionId == transaction.originalTransactionId)
        #expect(proven.transactionId == transaction.transactionId)
        #expect(proven.appAccountToken?.uuidString.lowercased() == transaction.appAccountToken)
        #expect(proven.signedDate == envelope.signedDate)
        #expect(proven.chain.leaf.der == material.authority.leaf)
        let root = try JSONDocument(proven.decoded).root
        #expect(root["data"]?["signedTransactionInfo"].map { Array($0.rawBytes) } == transaction.json)
        #expect(root["data"]?["signedRenewalInfo"].map { Array($0.rawBytes) } == renewal.json)
        let decoded = try DecodedNotification(decoded: proven.decoded)
        #expect(decoded.transaction == transaction)
        #expect(decoded.renewalInfo == renewal)
        #expect(decoded.appTransaction == nil)
        var expected = envelope
        expected.data?.signedTransactionInfo = nil
        expected.data?.signedRenewalInfo = nil
        #expect(decoded.envelope == expected)
    }

    @Test func `Verifier accepts no change of one character anywhere in a notification`() throws {
        let material = try ForgeryMaterial(now: Self.now)
        let verifier = try material.verifier()
        let jws = try material.signed(material.envelope(material.transaction(), material.renewal()))
        #expect((try? verifier.notification(jws, now: Self.now).get()) != nil)
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        // Every 23rd character, and each of the last hundred: about a thousand changes over all segments.
        let places = Array(stride(from: 0, to: jws.count - 100, by: 23)) + Array(jws.count - 100..<jws.count)
        for place in places {
            var changed = jws
            changed[place] =
                alphabet[(Int(changed[place]) + place) % 64] == changed[place]
                ? 0x2E : alphabet[(Int(changed[place]) + place) % 64]
            let result = verifier.notification(changed, now: Self.now)
            #expect(throws: VerificationFailure.self, "letter \(place)") { try result.get() }
            for reason in [result].compactMap({ if case .failure(let rejection) = $0 { rejection.reason } else { nil } }
            ) {
                #expect(!reason.isProven, "letter \(place): \(reason)")
            }
        }
    }

    @Test func `Verifier takes the third certificate for the root by a pinned digest, whatever the sender`() throws {
        let material = try ForgeryMaterial(now: Self.now)
        let root = try Certificate(der: material.authority.root)
        let verifier = SignedDataVerifier(trust: TrustStore(pinnedDigests: [root.sha256]), apps: material.registry)
        let jws = try material.signed(material.envelope())
        #expect(try verifier.notification(jws, now: Self.now).get().chain.root == root)
        for item in try Self.corpus.get().genuine {
            let reason = item.rejection(by: verifier, now: Self.now)?.reason
            #expect(reason == .chainUntrusted, "\(item.name), by another authority")
        }
        let apple = SignedDataVerifier(trust: .apple, apps: material.registry)
        #expect(throws: VerificationFailure.self) { try apple.notification(jws, now: Self.now).get() }
    }

    @Test func `Verifier accepts Xcode and LocalTesting in development mode only, and only for apps that name them`()
        throws
    {
        let material = try ForgeryMaterial(now: Self.now)
        let app = AcceptedApp(
            bundleId: ForgeryMaterial.bundleId, appAppleId: nil, environments: [.xcode, .localTesting, .sandbox])
        for environment in [AppStoreEnvironment.xcode, .localTesting] {
            let jws = try material.signed(
                material.envelope {
                    $0.data?.environment = environment
                    $0.data?.appAppleId = nil
                })
            for (mode, apps, passes) in [
                (true, [app], true), (false, [app], false),
                (true, [AcceptedApp(bundleId: app.bundleId, appAppleId: nil)], false),
            ] {
                let verifier = SignedDataVerifier(
                    trust: try material.trust(), apps: AppRegistry(apps: apps, developmentMode: mode))
                switch verifier.notification(jws, now: Self.now) {
                case .success(let proven): #expect(passes && proven.environment == environment)
                case .failure(let rejection): #expect(!passes && rejection.reason == .environment)
                }
            }
        }
    }

    @Test func `Verifier accepts nothing from production for an app without an Apple id`() throws {
        let material = try ForgeryMaterial(now: Self.now)
        let apps = AppRegistry(apps: [AcceptedApp(bundleId: ForgeryMaterial.bundleId, appAppleId: nil)])
        let verifier = SignedDataVerifier(trust: try material.trust(), apps: apps)
        let jws = try material.signed(material.envelope())
        #expect(throws: VerificationFailure.self) { try verifier.notification(jws, now: Self.now).get() }
        let sandbox = try material.signed(material.envelope { $0.data?.environment = .sandbox })
        #expect(try verifier.notification(sandbox, now: Self.now).get().environment == .sandbox)
    }

    @Test func `Verifier rejects a revoked certificate at once, and in hard mode one of unknown status`() throws {
        let material = try ForgeryMaterial(now: Self.now)
        let jws = try material.signed(material.envelope())
        for isHard in [false, true] {
            for place in [material.authority.leaf, material.authority.intermediate] {
                let register = RevocationRegister(isHard: isHard)
                let verifier = SignedDataVerifier(
                    trust: try material.trust(), apps: material.registry, revocations: register)
                func reason() -> VerificationFailureReason? {
                    if case .failure(let rejection) = verifier.notification(jws, now: Self.now) {
                        return rejection.reason
                    }
                    return nil
                }
                let fingerprints = try [material.authority.leaf, material.authority.intermediate].map {
                    try Certificate(der: $0).sha256
                }
                #expect(reason() == (isHard ? .revocationUnknown : nil))
                for fingerprint in fingerprints { register.note(.good, ofCertificate: fingerprint) }
                #expect(reason() == nil)
                register.note(.revoked, ofCertificate: try Certificate(der: place).sha256)
                #expect(reason() == .revoked)
                register.note(.unknown, ofCertificate: try Certificate(der: place).sha256)
                #expect(reason() == (isHard ? .revocationUnknown : nil))
            }
        }
    }

    @Test func `Verifier keeps its proofs and its size in a flood of distinct headers`() throws {
        let material = try ForgeryMaterial(now: Self.now)
        var policy = VerificationPolicy()
        policy.cachedHeaders = 4
        let verifier = try material.verifier(policy: policy)
        let genuine = try material.signed(material.envelope())
        _ = try verifier.notification(genuine, now: Self.now).get()
        let chain = material.authority.x5c.map { "\"\($0)\"" }.joined(separator: ",")
        for number in 0..<500 {
            // Apple's own certificates under other headers.
            let header = Array(#"{"alg":"ES256","kid":"\#(number)","x5c":[\#(chain)]}"#.utf8)
            let forged = try CompactJWS.signed(
                headerJSON: header, payloadJSON: material.envelope().json, key: material.stranger.leafKey)
            guard case .failure(let rejection) = verifier.notification(forged, now: Self.now) else {
                Issue.record("forgery \(number) passed")
                return
            }
            #expect(rejection.reason == .signature)
            #expect(verifier.remembered == (1, 1))
        }
        // Genuine signatures under many headers are bounded, too.
        for number in 0..<20 {
            let header = Array(#"{"alg":"ES256","kid":"\#(number)","x5c":[\#(chain)]}"#.utf8)
            let jws = try CompactJWS.signed(
                headerJSON: header, payloadJSON: material.envelope().json, key: material.authority.leafKey)
            _ = try verifier.notification(jws, now: Self.now).get()
        }
        #expect(verifier.remembered == (4, 1))
    }

    @Test func `VerificationFailure says whether it concerns a configured app, and never quotes the payload`() throws {
        let material = try ForgeryMaterial(now: Self.now)
        let verifier = try material.verifier()
        func rejection(_ payload: ResponseBodyV2DecodedPayload) throws -> VerificationFailure? {
            if case .failure(let rejection) = verifier.notification(try material.signed(payload), now: Self.now) {
                return rejection
            }
            return nil
        }
        let unknown = try #require(try rejection(material.envelope { $0.data?.bundleId = "com.example.other" }))
        #expect(unknown.bundleId == "com.example.other")
        #expect(!unknown.concernsOwnApp)
        #expect(unknown.reason.isProven)
        let mismatch = try #require(try rejection(material.envelope { $0.data?.appAppleId = 5 }))
        #expect(mismatch.concernsOwnApp)
        #expect(mismatch.bundleId == ForgeryMaterial.bundleId)
        #expect(mismatch.message.contains("1234567890"))
    }

    @Test func `Verifier answers many threads as it answers one`() async throws {
        let corpus = try Self.corpus.get()
        let verifier = try corpus.material.verifier()
        let small = corpus.all.filter { $0.jws.count < 100_000 }
        await withTaskGroup(of: [String].self) { group in
            for offset in 0..<4 {
                group.addTask {
                    small.indices.compactMap { index in
                        let item = small[(index + offset * small.count / 4) % small.count]
                        return item.rejection(by: verifier, now: Self.now)?.reason == item.expected ? nil : item.name
                    }
                }
            }
            for await wrong in group { #expect(wrong.isEmpty) }
        }
    }
}
