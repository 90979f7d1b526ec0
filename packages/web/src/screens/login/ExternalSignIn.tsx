import { Button, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { toast } from 'react-toastify';
import { ExternalSignInError, startExternalSignIn } from '../../api/external-sign-in.ts';
import { texts } from './texts.ts';

interface ExternalSignInProps {
  /** Name of the identity provider; null when no name is configured (the button then says "institution's account"). */
  readonly providerName: string | null;
  /** Whether the provider is the only way to sign in. */
  readonly isOnlyWay: boolean;
}

/** Button of the login page that opens the page of the identity provider, which later sends the browser back to `/auth/callback`. */
export function ExternalSignIn({ providerName, isOnlyWay }: ExternalSignInProps) {
  const [isOpening, setOpening] = useState(false);

  useEffect(() => {
    // When the user returns with the Back button, the browser may restore the page as it was before: with a loading button.
    const enableAgain = ({ persisted }: PageTransitionEvent) => {
      if (persisted) setOpening(false);
    };
    window.addEventListener('pageshow', enableAgain);
    return () => window.removeEventListener('pageshow', enableAgain);
  }, []);

  async function openProviderPage() {
    setOpening(true);
    try {
      const providerUrl = await startExternalSignIn();
      location.assign(providerUrl);
    } catch (error) {
      setOpening(false);
      toast.error(error instanceof ExternalSignInError ? error.message : texts.providerPageFailed);
    }
  }

  return (
    <>
      {isOnlyWay && <Text>{texts.externalOnly}</Text>}
      <Button
        variant={isOnlyWay ? 'filled' : 'default'}
        fullWidth
        loading={isOpening}
        onClick={() => void openProviderPage()}
      >
        {texts.signInAt(providerName)}
      </Button>
    </>
  );
}
