#if Llama
    import HearthBase
    import HearthInference
    import Synchronization

    /// The models of some roles, on their way out: they answer what they were asked until now, and who comes later waits for what
    /// takes their place. Begun by the old one, they would be ended with it.
    struct Departure {
        let roles: [EngineRole]
        let asked: [GenerationRequest]
        /// Of the load they give way to: set, nobody waits for the answers any more.
        let signal: StopSignal
        /// Whoever waits for the answers, until they are told.
        var waiter: CheckedContinuation<Void, Never>?
    }

    extension LlamaActor {
        /// Waits until these roles' models have answered what they were asked until now; somebody else makes the steps, and whoever
        /// wants the engine's thread between two of them gets it. The models take nobody new until ``departure`` is forgotten.
        func answerAll(asked roles: [EngineRole], unless signal: StopSignal) async {
            let asked = requests.withLock { $0.all }.filter { isAnswered($0, by: roles) }
            departure = Departure(roles: roles, asked: asked, signal: signal)
            guard !asked.isEmpty, !signal.isSet else { return }
            await withCheckedContinuation { departure?.waiter = $0 }
            visitors.subtract(1, ordering: .relaxed)
        }

        /// After a step: who waits for answers is told when there are none left to wait for.
        func tellDeparture() {
            guard let departure, let waiter = departure.waiter,
                departure.signal.isSet || !requests.withLock({ $0.contains(anyOf: departure.asked) })
            else { return }
            self.departure?.waiter = nil
            // They come back to a thread that others keep busy.
            knock()
            waiter.resume()
        }

        /// Whether a request waits for a model that is to come, although there is one yet.
        func isLeftToTheNext(_ request: GenerationRequest) -> Bool {
            guard let departure, isAnswered(request, by: departure.roles) else { return false }
            return !departure.asked.contains { $0.isSame(as: request) }
        }

        private func isAnswered(_ request: GenerationRequest, by roles: [EngineRole]) -> Bool {
            roles.contains { role in loop(request.role).map { $0 === loops[role] } ?? false }
        }
    }
#endif
