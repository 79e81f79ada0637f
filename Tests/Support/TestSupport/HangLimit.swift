import Testing

extension Duration {
    /// How long a test waits for what must happen. Only what hangs takes so long, also on a machine that is busy with
    /// something else.
    public static var hangLimit: Duration { .seconds(600) }
}

extension Trait where Self == TimeLimitTrait {
    /// Ends a test that hangs.
    public static var hangLimit: Self { .timeLimit(.minutes(30)) }
}
