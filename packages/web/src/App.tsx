import { MantineProvider, useComputedColorScheme, VisuallyHidden } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { Fragment, type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { ToastContainer } from 'react-toastify';
import { queryClient } from './api/query-client.ts';
import { cssVariablesResolver, theme } from './browser/theme.ts';
import { ToastCloseButton } from './components/ToastCloseButton.tsx';
import { chosenLanguageOr, offeredLanguages, useLanguage } from './language/language.ts';
import { texts } from './language/texts.ts';

interface AppProps {
  /** 'test' disables the transitions of Mantine's components. */
  readonly env?: 'default' | 'test';
  /** The router. */
  readonly children: ReactNode;
}

/** Provides all screens with the theme and the cache of API responses, and shows the toasts. */
export function App({ env = 'default', children }: AppProps) {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariablesResolver}
      defaultColorScheme="auto"
      env={env}
    >
      <QueryClientProvider client={queryClient}>
        <RemountOnLanguageChange>{children}</RemountOnLanguageChange>
        <Toasts />
      </QueryClientProvider>
    </MantineProvider>
  );
}

/**
 * Remounts all screens when the user chooses another language, and announces the language to screen readers. Remounting removes the
 * focus from the language selection, so this component focuses the selection again. The sign-in, the loaded data and the URL are not
 * in component state, so they stay. State of `useStateAcrossLanguages` also stays.
 */
function RemountOnLanguageChange({ children }: { readonly children: ReactNode }) {
  const language = useLanguage();
  const renderedLanguage = useRef(language);
  const [announcement, setAnnouncement] = useState('');

  useLayoutEffect(() => {
    document.documentElement.lang = chosenLanguageOr('tr'); // until the user chooses a language, most texts are Turkish
    if (renderedLanguage.current === language) return;
    renderedLanguage.current = language;
    document.querySelector<HTMLElement>('[data-language-choice]')?.focus({ preventScroll: true });
    const { name = '' } = offeredLanguages.find(({ choice }) => choice === language) ?? {};
    setAnnouncement(texts.languageIs(name));
  }, [language]);

  return (
    <>
      <Fragment key={language}>{children}</Fragment>
      <VisuallyHidden aria-live="polite">{announcement}</VisuallyHidden>
    </>
  );
}

function Toasts() {
  useLanguage(); // renders this component again when the language changes
  const colorScheme = useComputedColorScheme('light');
  return (
    <ToastContainer
      aria-label={texts.notifications}
      position="top-right"
      autoClose={5000} // ms
      limit={20}
      newestOnTop
      closeButton={ToastCloseButton}
      theme={colorScheme}
    />
  );
}
