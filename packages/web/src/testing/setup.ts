/** Runs before each test file: adds the browser features that jsdom lacks, and the settings that the server writes into the page. */
import { cleanup, configure } from '@testing-library/react';
import { afterEach, vi } from 'vitest';
import { chooseLanguage } from '../language/language.ts';

// In milliseconds. The limit is high because a busy machine may render slowly; only a failing test reaches it.
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

// Mantine's growing text areas listen to this object, because loaded fonts change the height of their text.
Object.defineProperty(document, 'fonts', {
  value: { addEventListener: () => {}, removeEventListener: () => {} },
});

window.scrollTo = () => {};
Element.prototype.scrollIntoView = () => {};

// Elements in jsdom have no height; a virtual list, which renders only the rows that fit, would stay empty.
Object.defineProperty(Element.prototype, 'clientHeight', { configurable: true, value: 800 });

afterEach(() => {
  cleanup();
  chooseLanguage('mixed');
  localStorage.clear();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.useRealTimers();
});
