//! Authorization by what the server has learned.

use auth::{Answer, Attributes, Decision};
use meta::Status;

use crate::access::authorize::judged;
use crate::state::Api;

impl Api {
    /// Errs with the refusal that upstream would send.
    pub async fn allow(&self, attributes: Attributes<'_>) -> Result<(), Status> {
        judged(&attributes, &self.authorize(attributes).await)
    }

    pub async fn authorize(&self, attributes: Attributes<'_>) -> Decision {
        let first = self.authorizer.authorize(attributes);
        self.authorize_again(&attributes, first).await
    }

    /// Asks again before it says no: the right may be so new that it is not learned yet.
    pub(crate) async fn authorize_again(
        &self,
        attributes: &Attributes<'_>,
        first: Answer<'_>,
    ) -> Decision {
        let decision = first.await;
        if decision.allowed() || self.wait_until_caught_up().await.is_err() {
            return decision;
        }
        self.authorizer.authorize(*attributes).await
    }
}
