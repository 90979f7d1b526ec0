import { Button, Group } from '@mantine/core';
import { Suspense } from 'react';
import { FailureBoundary } from './lazy-part.tsx';
import { preloadable } from './preloadable.tsx';
import classes from './UserMenu.module.css';
import type { UserMenuProps } from './UserMenu.tsx';
import { UserName } from './UserName.tsx';

/** Loaded separately: Mantine's script for menus is as large as the script of the catalogue and would delay the catalogue. */
const UserMenu = preloadable(async () => (await import('./UserMenu.tsx')).UserMenu);
UserMenu.preload().catch(() => undefined); // after a failure, rendering the component loads the script again

/**
 * Shows the user menu; until its script is loaded, only the user's name. When the script cannot be loaded, the name and a sign-out
 * button are shown, so that the error screen does not replace the whole screen.
 */
export function LoadedUserMenu(props: UserMenuProps) {
  const name = (
    <span className={classes.target}>
      <UserName user={props.user} badge={props.badge} />
    </span>
  );
  return (
    <FailureBoundary
      renderFailed={() => (
        <Group gap="xs" wrap="nowrap">
          {name}
          <Button size="xs" variant="default" lang={props.labelLanguage} onClick={props.onLogout}>
            {props.logoutLabel}
          </Button>
        </Group>
      )}
    >
      <Suspense fallback={name}>
        <UserMenu {...props} />
      </Suspense>
    </FailureBoundary>
  );
}
