import { MantineProvider, useComputedColorScheme, VisuallyHidden } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { Fragment, type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { ToastContainer } from 'react-toastify';
import { queryClient } from './api/query-client.ts';
import { cssVariablesResolver, theme } from './browser/theme.ts';
import { ToastCloseButton } from './components/ToastCloseButton.tsx';
import { languageNow, offeredLanguages, useLanguage } from './language/language.ts';
import { texts } from './language/texts.ts';

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
        <InLanguage>{children}</InLanguage>
        <Toasts />
      </QueryClientProvider>
    </MantineProvider>
  );
}

/**
 * Draws everything anew in a language that was just chosen, which it says; what is chosen with stays in focus.
 * Who is signed in, what was loaded and where one is live outside of it.
 */
function InLanguage({ children }: { readonly children: ReactNode }) {
  const language = useLanguage();
  const drawn = useRef(language);
  const [news, setNews] = useState('');

  useLayoutEffect(() => {
    document.documentElement.lang = languageNow('tr');
    if (drawn.current === language) return;
    drawn.current = language;
    document.querySelector<HTMLElement>('[data-language-choice]')?.focus({ preventScroll: true });
    const { name = '' } = offeredLanguages.find(({ choice }) => choice === language) ?? {};
    setNews(texts.languageIs(name));
  }, [language]);

  return (
    <>
      <Fragment key={language}>{children}</Fragment>
      <VisuallyHidden aria-live="polite">{news}</VisuallyHidden>
    </>
  );
}

function Toasts() {
  useLanguage();
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
