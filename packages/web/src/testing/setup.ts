/** What the browser has and jsdom has not, and the settings the server would have written. */
import { cleanup, configure } from '@testing-library/react';
import { afterEach, vi } from 'vitest';
import { chooseLanguage } from '../language.ts';

// A busy machine may draw slowly; a test that waits for nothing still fails.
configure({ asyncUtilTimeout: 10_000 });

const settings = document.createElement('meta');
settings.name = 'settings';
settings.content = JSON.stringify({
  productName: 'Lamina',
  tokenSyncUrl: null,
  signIn: { embedded: true, external: null },
});
document.head.append(settings);

window.matchMedia = (query) => ({
  matches: false,
  media: query,
  onchange: null,
  addEventListener: () => {},
  removeEventListener: () => {},
  addListener: () => {},
  removeListener: () => {},
  dispatchEvent: () => false,
});

window.ResizeObserver = class {
  observe() {}
  unobserve() {}
  disconnect() {}
};

window.scrollTo = () => {};

// Nothing has a size there, and lists draw what has room.
Object.defineProperty(Element.prototype, 'clientHeight', { configurable: true, value: 800 });

afterEach(() => {
  cleanup();
  chooseLanguage('mixed');
  localStorage.clear();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.useRealTimers();
});
