/// The errors of retention messaging.
extension APIErrorCode {
    /// Not a picture as it has to be.
    public static let invalidImage = APIErrorCode(rawValue: 4_000_161)
    /// A message's header.
    public static let headerTooLong = APIErrorCode(rawValue: 4_000_162)
    /// A message's text.
    public static let bodyTooLong = APIErrorCode(rawValue: 4_000_163)
    /// No such language.
    public static let invalidLocale = APIErrorCode(rawValue: 4_000_164)
    /// A picture's description.
    public static let altTextTooLong = APIErrorCode(rawValue: 4_000_175)
    /// A performance test cannot be like that.
    public static let invalidPerformanceTestRequest = APIErrorCode(rawValue: 4_000_211)
    /// No such performance test.
    public static let invalidRequestId = APIErrorCode(rawValue: 4_000_212)
    /// One is running.
    public static let existingPerformanceTestRun = APIErrorCode(rawValue: 4_000_213)
    /// Not an address as it has to be.
    public static let badRequestRealtimeURL = APIErrorCode(rawValue: 4_000_215)
    /// No such size.
    public static let badRequestImageSize = APIErrorCode(rawValue: 4_000_216)
    /// Too many points.
    public static let badRequestTooManyBulletPoints = APIErrorCode(rawValue: 4_000_218)
    /// A point is too long.
    public static let badRequestBulletPointTextTooLong = APIErrorCode(rawValue: 4_000_219)
    /// A header above a picture needs one.
    public static let badRequestAboveImageRequiresAnImage = APIErrorCode(rawValue: 4_000_224)
    /// No more pictures.
    public static let maximumNumberOfImagesReached = APIErrorCode(rawValue: 4_030_014)
    /// No more messages.
    public static let maximumNumberOfMessagesReached = APIErrorCode(rawValue: 4_030_016)
    /// Apple has not approved the message.
    public static let messageNotApproved = APIErrorCode(rawValue: 4_030_017)
    /// Apple has not approved the picture.
    public static let imageNotApproved = APIErrorCode(rawValue: 4_030_018)
    /// A message shows it.
    public static let imageInUse = APIErrorCode(rawValue: 4_030_019)
    /// A performance test has to be passed first.
    public static let forbiddenNoPassingTest = APIErrorCode(rawValue: 4_030_026)
    /// No such picture.
    public static let imageNotFound = APIErrorCode(rawValue: 4_040_014)
    /// No such message.
    public static let messageNotFound = APIErrorCode(rawValue: 4_040_015)
    /// No such performance test.
    public static let performanceTestRunNotFound = APIErrorCode(rawValue: 4_040_018)
    /// None is set.
    public static let defaultMessageNotFound = APIErrorCode(rawValue: 4_040_020)
    /// None is set.
    public static let realtimeURLNotFound = APIErrorCode(rawValue: 4_040_021)
    /// There is one of that name.
    public static let imageAlreadyExists = APIErrorCode(rawValue: 4_090_000)
    /// There is one of that name.
    public static let messageAlreadyExists = APIErrorCode(rawValue: 4_090_001)

    static let ofMessaging: Set<APIErrorCode> = [
        .invalidImage, .headerTooLong, .bodyTooLong, .invalidLocale, .altTextTooLong, .invalidPerformanceTestRequest,
        .invalidRequestId, .existingPerformanceTestRun, .badRequestRealtimeURL, .badRequestImageSize,
        .badRequestTooManyBulletPoints, .badRequestBulletPointTextTooLong, .badRequestAboveImageRequiresAnImage,
        .maximumNumberOfImagesReached, .maximumNumberOfMessagesReached, .messageNotApproved, .imageNotApproved,
        .imageInUse, .forbiddenNoPassingTest, .imageNotFound, .messageNotFound, .performanceTestRunNotFound,
        .defaultMessageNotFound, .realtimeURLNotFound, .imageAlreadyExists, .messageAlreadyExists,
    ]
}
