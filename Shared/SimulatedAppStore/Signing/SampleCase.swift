import AppStore

import struct Foundation.Date

/// A notification of each kind for tests. The raw value is its name on the command line.
enum SampleCase: String, Sendable, CaseIterable {
    case subscribed
    case renewed
    case renewalOff = "renewal-off"
    case failedToRenew = "failed-to-renew"
    case recovered
    case expired
    case refunded
    case oneTimeCharge = "one-time-charge"
    case test
    case unreportedToken = "unreported-token"
    case unknownType = "unknown-type"
    case missingSignedDate = "missing-signed-date"
    case tampered
    case wrongRoot = "wrong-root"
    case unsigned
    case strangersApp = "strangers-app"
    case foreignTransaction = "foreign-transaction"
    case tooNew = "too-new"
    case tooOld = "too-old"

    /// The compact JWS.
    /// - Parameter now: nothing is signed later, except the case that is too new.
    func signed(by signer: NotificationSigner, for app: App, seed: UInt64, now: Date) throws -> [UInt8] {
        var sample = SampleHistory(of: app, seed: seed, now: now)
        switch self {
        case .subscribed: return try signer.sign(sample.payload(after: [.subscribe]))
        case .renewed: return try signer.sign(sample.payload(after: [.subscribe, .renew]))
        case .renewalOff: return try signer.sign(sample.payload(after: [.subscribe, .turnRenewalOff]))
        case .failedToRenew: return try signer.sign(sample.payload(after: [.subscribe, .failToRenewWithGrace]))
        case .recovered: return try signer.sign(sample.payload(after: [.subscribe, .failToRenew, .recover]))
        case .expired:
            return try signer.sign(sample.payload(after: [.subscribe, .turnRenewalOff, .expireVoluntarily]))
        case .refunded: return try signer.sign(sample.payload(after: [.subscribe, .refund]))
        case .oneTimeCharge: return try signer.sign(sample.charge())
        case .test: return try signer.sign(sample.test())
        case .unreportedToken: return try signer.sign(sample.unreportedToken())
        case .unknownType:
            var event = sample.payload(after: [.subscribe])
            event.kind = NotificationKind(
                NotificationType(rawValue: "SUBSCRIPTION_GIFTED"), NotificationSubtype(rawValue: "BIRTHDAY"))
            return try signer.sign(event)
        case .missingSignedDate:
            return try signer.sign(sample.payload(after: [.subscribe]), omitsSignedDate: true)
        case .tampered: return try signer.forge(sample.payload(after: [.subscribe]), .tampered)
        case .wrongRoot: return try signer.forge(sample.payload(after: [.subscribe]), .wrongRoot)
        case .unsigned: return try signer.forge(sample.payload(after: [.subscribe]), .unsigned)
        case .strangersApp: return try signer.forge(sample.payload(after: [.subscribe]), .strangersApp)
        case .foreignTransaction:
            return try signer.forge(sample.payload(after: [.subscribe]), .foreignTransaction)
        case .tooNew:
            var event = sample.payload(after: [.subscribe])
            event.signedDate = now.adding(3 * 86_400)
            return try signer.sign(event)
        case .tooOld:
            var event = sample.payload(after: [.subscribe])
            event.signedDate = now.adding(-500 * 86_400)
            return try signer.sign(event)
        }
    }
}
