import { Anchor, Stack, Title } from '@mantine/core';
import { useEffect, useState } from 'react';
import { Link, useLocation, useNavigate } from 'react-router';
import { NewPasswordForm } from './NewPasswordForm.tsx';
import { RequestForm } from './RequestForm.tsx';
import { texts } from './texts.ts';

/**
 * Setting a new password without the old one: asks for a link by mail, or, opened from that link
 * (`#code=…`), for the new password. The code stands in the fragment, which no server ever sees.
 */
export function PasswordReset() {
  const { hash, pathname } = useLocation();
  const navigate = useNavigate();
  const linkedCode = codeIn(hash);
  const [code, setCode] = useState(linkedCode);
  if (linkedCode !== null && linkedCode !== code) setCode(linkedCode);

  useEffect(() => {
    // Nothing of the code stays in the address or in the browser's history.
    if (linkedCode !== null) void navigate(pathname, { replace: true });
  }, [linkedCode, pathname, navigate]);

  return (
    <Stack gap="lg">
      <Title order={1} size="h2">
        {texts.heading}
      </Title>
      {code === null ? (
        <RequestForm />
      ) : (
        <NewPasswordForm key={code} code={code} onAnotherLink={() => setCode(null)} />
      )}
      <Anchor component={Link} to="/auth/login" ta="center">
        {texts.backToLogin}
      </Anchor>
    </Stack>
  );
}

/** Null when the address has none. */
function codeIn(hash: string): string | null {
  return new URLSearchParams(hash.replace(/^#/, '')).get('code') || null;
}
