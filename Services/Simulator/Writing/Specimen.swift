import AppStore

import struct Foundation.Date

/// One notification of each kind worth looking at. The raw value is its name on the command line.
enum Specimen: String, Sendable, CaseIterable {
    case subscribed
    case renewed
    case renewalOff = "renewal-off"
    case failedToRenew = "failed-to-renew"
    case recovered
    case expired
    case refunded
    case oneTimeCharge = "one-time-charge"
    case test
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
    /// - Parameter now: nothing is signed later, except what is too new.
    func signed(by writer: LetterWriter, for app: App, seed: UInt64, now: Date) throws -> [UInt8] {
        var biography = Biography(of: app, seed: seed, now: now)
        switch self {
        case .subscribed: return try writer.sign(biography.notice(after: [.subscribe]))
        case .renewed: return try writer.sign(biography.notice(after: [.subscribe, .renew]))
        case .renewalOff: return try writer.sign(biography.notice(after: [.subscribe, .turnRenewalOff]))
        case .failedToRenew: return try writer.sign(biography.notice(after: [.subscribe, .failToRenewWithGrace]))
        case .recovered: return try writer.sign(biography.notice(after: [.subscribe, .failToRenew, .recover]))
        case .expired:
            return try writer.sign(biography.notice(after: [.subscribe, .turnRenewalOff, .expireVoluntarily]))
        case .refunded: return try writer.sign(biography.notice(after: [.subscribe, .refund]))
        case .oneTimeCharge: return try writer.sign(biography.charge())
        case .test: return try writer.sign(biography.test())
        case .unknownType:
            var notice = biography.notice(after: [.subscribe])
            notice.announcement = Announcement(
                NotificationType(rawValue: "SUBSCRIPTION_GIFTED"), NotificationSubtype(rawValue: "BIRTHDAY"))
            return try writer.sign(notice)
        case .missingSignedDate:
            return try writer.sign(biography.notice(after: [.subscribe]), omitsSignedDate: true)
        case .tampered: return try writer.forge(biography.notice(after: [.subscribe]), .tampered)
        case .wrongRoot: return try writer.forge(biography.notice(after: [.subscribe]), .wrongRoot)
        case .unsigned: return try writer.forge(biography.notice(after: [.subscribe]), .unsigned)
        case .strangersApp: return try writer.forge(biography.notice(after: [.subscribe]), .strangersApp)
        case .foreignTransaction:
            return try writer.forge(biography.notice(after: [.subscribe]), .foreignTransaction)
        case .tooNew:
            var notice = biography.notice(after: [.subscribe])
            notice.signedDate = now.adding(3 * 86_400)
            return try writer.sign(notice)
        case .tooOld:
            var notice = biography.notice(after: [.subscribe])
            notice.signedDate = now.adding(-500 * 86_400)
            return try writer.sign(notice)
        }
    }
}
