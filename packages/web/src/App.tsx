import { MantineProvider, useComputedColorScheme } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ToastContainer } from 'react-toastify';
import { queryClient } from './api/query-client.ts';
import { ToastCloseButton } from './components/ToastCloseButton.tsx';
import { texts } from './texts.ts';
import { cssVariablesResolver, theme } from './theme.ts';

interface AppProps {
  /** 'test' draws without transitions. */
  readonly env?: 'default' | 'test';
  /** The router. */
  readonly children: ReactNode;
}

/** What surrounds every screen: the look, the server's answers, the toasts. */
export function App({ env = 'default', children }: AppProps) {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariablesResolver}
      defaultColorScheme="auto"
      env={env}
    >
      <QueryClientProvider client={queryClient}>
        {children}
        <Toasts />
      </QueryClientProvider>
    </MantineProvider>
  );
}

function Toasts() {
  const colorScheme = useComputedColorScheme('light');
  return (
    <ToastContainer
      aria-label={texts.notifications}
      position="top-right"
      autoClose={5000}
      limit={20}
      newestOnTop
      closeButton={ToastCloseButton}
      theme={colorScheme}
    />
  );
}
